package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go/protocol"
)

// ErrWouldEmpty marks a request to delete every record of a partition. The
// caller should write a marker first (RollMarkers) and delete up to it: the
// embedded broker forgets the offsets of a partition that is left empty.
var ErrWouldEmpty = errors.New("no record would be left")

// DeleteRecordsBefore removes the records of a partition before the offset and
// returns the new start of the log. Brokers refuse it for topics that are only
// compacted (of lethe's, all but Erasures), and remove the bytes when a whole
// segment lies before the start, or later by compaction.
func (c *Client) DeleteRecordsBefore(ctx context.Context, t Topic, partition int, offset int64) (int64, error) {
	tp := TopicPartition{t, partition}
	_, end, err := c.logRange(ctx, tp)
	if err != nil {
		return 0, err
	}
	if offset >= end {
		return 0, fmt.Errorf("delete records of %s before %d, the log ends at %d: %w", tp, offset, end, ErrWouldEmpty)
	}
	for attempt := 0; ; attempt++ {
		start, err := c.deleteRecords(ctx, tp, offset)
		if err == nil {
			return start, nil
		}
		if attempt == 8 || !isTemporary(err) || pause(ctx, attempt) != nil {
			return 0, fmt.Errorf("delete records of %s before %d: %w", tp, offset, c.explain(ctx, err))
		}
	}
}

// deleteRecords sends version 1 of the DeleteRecords request, which kafka-go
// does not have.
func (c *Client) deleteRecords(ctx context.Context, tp TopicPartition, offset int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	message, err := c.link.transport.RoundTrip(ctx, c.link.address, &call{
		key: protocol.DeleteRecords, version: 1, clientID: c.cfg.ClientID,
		topic: c.Name(tp.Topic), partition: tp.Partition,
		limitBytes: 1 << 16,
		body: func(w *wireWriter) {
			w.int32(1) // topics
			w.text(c.Name(tp.Topic))
			w.int32(1) // partitions
			w.int32(int32(tp.Partition))
			w.int64(offset)
			w.int32(int32(c.cfg.RequestTimeout.Milliseconds()))
		},
	})
	if err != nil {
		return 0, err
	}
	r := &wireReader{rest: message.(*answer).body}
	r.int32() // throttle time
	topics := r.count(1)
	r.skipText()
	partitions := r.count(1)
	r.int32() // partition
	start := r.int64()
	code := r.int16()
	if r.err != nil || topics != 1 || partitions != 1 {
		return 0, fmt.Errorf("%w: answer to a deletion of records", ErrCorrupt)
	}
	return start, codeError(code)
}
