package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus/protocol"
)

const (
	// askedAnew is the interval at which the leader is queried for the nearest replica.
	askedAnew = 5 * time.Minute
	// leaderAlone is how long only the leader is read after the nearest replica failed.
	leaderAlone = time.Minute
)

// nearest is the broker that a partition is read from (KIP-392): one in the reader's rack, if the
// reader has a rack and the leader names such a broker, and else the leader. If any other broker
// fails, the leader is read instead, which is authoritative.
type nearest struct {
	rack string
	tp   TopicPartition
	// broker is nil for the leader. Until the given time it is used, and no other broker is
	// queried for.
	broker *int32
	until  time.Time
}

// fetch reads records from a position on.
func (n *nearest) fetch(ctx context.Context, c *Client, position int64) (protocol.Fetched, error) {
	for {
		got, err := fetchAtMost(ctx, c, n.now(time.Now()), position, c.cfg.MaxFetchBytes)
		switch {
		case err == nil && got.Nearer != nil:
			n.broker, n.until = got.Nearer, time.Now().Add(askedAnew)
		case n.broker != nil && (err != nil || got.Damaged != nil) && ctx.Err() == nil:
			n.broker, n.until = nil, time.Now().Add(leaderAlone)
		default:
			return got, err
		}
	}
}

// now returns which broker to read at a time, and whether to query the leader for a
// nearer one.
func (n *nearest) now(at time.Time) reading {
	if at.Before(n.until) {
		return reading{TopicPartition: n.tp, copy: n.broker}
	}
	n.broker = nil
	return reading{TopicPartition: n.tp, rack: n.rack}
}

// Holds reports whether the log of any replica of a partition still has the record at an offset,
// committed or not; a replica that has cleaned its log does not. It reads one batch from each.
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
			held, err = holds(ctx, c, reading{TopicPartition: tp, copy: &broker, uncommitted: true}, offset)
			if held || err != nil {
				return held, err
			}
		}
		return false, nil
	}
	return holds(ctx, c, reading{TopicPartition: tp, uncommitted: true}, offset)
}

func holds(ctx context.Context, c *Client, r reading, offset int64) (bool, error) {
	const oneBatch = 1 // a broker returns a larger batch whole
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
