package bus

import (
	"context"
	"errors"
	"fmt"
)

// ErrWouldEmpty marks a request to delete every record of a partition. The
// caller should write a marker first (RollMarkers) and delete up to it: the
// embedded broker forgets the offsets of a partition that is left empty.
var ErrWouldEmpty = errors.New("no record would be left")

// DeleteRecordsBefore removes the records of a partition before the offset and
// returns the new start of the log. Brokers refuse it for topics that are only
// compacted (of lethe's, all but Erasures), and remove the bytes when a whole
// segment lies before the start, or later by compaction.
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
