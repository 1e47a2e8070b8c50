package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Holds reports whether the log of any broker that keeps a partition still has the record at an offset, committed or not:
// one that has cleaned its log does not. It reads one batch of each.
func (c *Client) Holds(ctx context.Context, tp TopicPartition, offset int64) (held bool, err error) {
	kept, err := copiesOf(ctx, c, tp.Topic)
	if err != nil {
		return false, fmt.Errorf("read %s@%d: %w", tp, offset, err)
	}
	if tp.Partition >= len(kept) {
		return false, fmt.Errorf("read %s@%d: %w", tp, offset, ErrUnknownTopic)
	}
	if of := kept[tp.Partition]; len(of) > 1 {
		for _, broker := range of {
			if held, err = holds(ctx, c, reading{TopicPartition: tp, copy: &broker, uncommitted: true}, offset); held || err != nil {
				return held, err
			}
		}
		return false, nil
	}
	return holds(ctx, c, reading{TopicPartition: tp, uncommitted: true}, offset)
}

func holds(ctx context.Context, c *Client, r reading, offset int64) (bool, error) {
	const oneBatch = 1 // a broker sends one that is larger than asked for whole
	e := newEffort(c, r.String())
	defer e.abandoned()
	for {
		got, err := fetchAtMost(ctx, c, r, offset, oneBatch)
		switch {
		case err == nil:
			e.worked()
			return len(got.Records) > 0 && got.Records[0].Offset == offset, nil
		case errors.Is(err, kafka.OffsetOutOfRange):
			return false, nil
		}
		if err := retries(ctx, e, r, err); err != nil {
			return false, fmt.Errorf("read %s@%d: %w", r, offset, err)
		}
	}
}
