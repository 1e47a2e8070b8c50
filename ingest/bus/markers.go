package bus

import (
	"context"
	"errors"
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

// ErrWouldEmpty marks a request to delete every record of a partition. The caller should
// write a marker first (RollMarkers) and delete the records before it: the embedded
// broker forgets the offsets of a partition that is empty.
var ErrWouldEmpty = errors.New("no record would be left")

// DeleteRecordsBefore deletes the records of a partition before the offset and returns
// the new start of the log. Brokers reject it for topics that are only compacted (all of
// lethe's but Erasures). They delete the bytes when a whole segment lies before the
// start, or later by compaction.
func (a Admin) DeleteRecordsBefore(ctx context.Context, t Topic, partition int, offset int64) (int64, error) {
	tp := TopicPartition{t, partition}
	_, end, err := a.client.logRange(ctx, tp)
	if err != nil {
		return 0, err
	}
	if offset >= end {
		return 0, fmt.Errorf("delete records of %s before %d, the log ends at %d: %w", tp, offset, end, ErrWouldEmpty)
	}
	for attempt := 0; ; attempt++ {
		start, err := a.deleteRecords(ctx, tp, offset)
		if err == nil {
			return start, nil
		}
		if attempt == 8 || !isTemporary(err) || pause(ctx, attempt) != nil {
			return 0, fmt.Errorf("delete records of %s before %d: %w", tp, offset, a.client.explain(ctx, err))
		}
	}
}

func (a Admin) deleteRecords(ctx context.Context, tp TopicPartition, offset int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, a.client.cfg.RequestTimeout)
	defer cancel()
	return a.client.raw.DeleteRecords(ctx, a.client.Name(tp.Topic), tp.Partition, offset, a.client.cfg.RequestTimeout)
}
