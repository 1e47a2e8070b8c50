package bus

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/ingest"
)

// RollMarkers writes a marker to every partition of the topics. A broker does not compact
// the newest part of a log; a marker makes earlier records eligible. Apache Kafka rolls
// by segment, so the marker must be written later than segment.ms (a minute) after the
// record to clean, and a tombstone itself is removed only when a later run of the cleaner
// finds something new: write markers until a search for the bytes finds none. The
// embedded broker rolls with every write and compacts on request.
//
// There is one marker key for each partition, so markers do not accumulate.
func (c *Client) RollMarkers(ctx context.Context, topics ...Topic) error {
	return RollMarkers(ctx, c, topics...)
}

// Writer writes markers.
type Writer interface {
	Partitions(ctx context.Context, t Topic) (int, error)
	Write(ctx context.Context, t Topic, records []ingest.Outgoing) error
}

// RollMarkers is Client.RollMarkers with any writer.
func RollMarkers(ctx context.Context, w Writer, topics ...Topic) error {
	var all []TopicPartition
	for _, t := range topics {
		count, err := w.Partitions(ctx, t)
		if err != nil {
			return fmt.Errorf("roll markers: %w", err)
		}
		for p := range count {
			all = append(all, TopicPartition{t, p})
		}
	}
	return RollPartitions(ctx, w, all)
}

// RollPartitions is RollMarkers for single partitions.
func RollPartitions(ctx context.Context, w Writer, list []TopicPartition) error {
	byTopic := make(map[Topic][]ingest.Outgoing)
	for _, at := range list {
		key, value := ingest.EncodeMarker(at.Partition)
		marker := ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: at.Partition}
		byTopic[at.Topic] = append(byTopic[at.Topic], marker)
	}
	for _, t := range slices.Sorted(maps.Keys(byTopic)) {
		if err := w.Write(ctx, t, byTopic[t]); err != nil {
			return fmt.Errorf("roll markers: %w", err)
		}
	}
	return nil
}
