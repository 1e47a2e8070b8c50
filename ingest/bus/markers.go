package bus

import (
	"context"
	"fmt"

	"lethe/ingest"
)

// RollMarkers writes a marker to every partition of the topics. A broker does
// not compact the newest part of a log; a marker makes what came before it
// old. Apache Kafka rolls by segment, so the marker must come later than
// segment.ms (a minute) after the record that is to go, and a tombstone itself
// goes only when a later run of the cleaner finds something new: write markers
// until a search for the bytes finds none. The embedded broker rolls with
// every write and compacts when told.
//
// There is one marker key for each partition, so markers do not pile up.
func (c *Client) RollMarkers(ctx context.Context, topics ...Topic) error {
	return RollMarkers(ctx, c, topics...)
}

// Writer is what markers are written to.
type Writer interface {
	Partitions(ctx context.Context, t Topic) (int, error)
	Write(ctx context.Context, t Topic, records []ingest.Outgoing) error
}

// RollMarkers is Client.RollMarkers over a writer.
func RollMarkers(ctx context.Context, w Writer, topics ...Topic) error {
	for _, t := range topics {
		count, err := w.Partitions(ctx, t)
		if err != nil {
			return fmt.Errorf("roll markers: %w", err)
		}
		markers := make([]ingest.Outgoing, count)
		for p := range markers {
			key, value := ingest.EncodeMarker(p)
			markers[p] = ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p}
		}
		if err := w.Write(ctx, t, markers); err != nil {
			return fmt.Errorf("roll markers: %w", err)
		}
	}
	return nil
}
