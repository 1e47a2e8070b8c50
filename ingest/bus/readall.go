package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
)

// ReadAll calls fn for every record of a topic from the start of the log to
// where it ended when ReadAll began: partition by partition, in order. It
// stops at fn's first error and returns it, wrapped. Records share memory with
// their neighbours; copy what is kept. Where the log is damaged the error is
// ErrCorrupt and names the offsets, unless Config.Around is to be told.
func (c *Client) ReadAll(ctx context.Context, t Topic, fn func(ingest.Record) error) error {
	return c.ReadAround(ctx, t, fn, c.cfg.Around)
}

// ReadNew is ReadAll of what stands behind the positions, by partition, and moves them on.
// A partition without a position is read from the start of the log. After an error the
// positions are those of the partitions that were read to their end.
func (c *Client) ReadNew(
	ctx context.Context, t Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	for p := range count {
		r := reading{TopicPartition: TopicPartition{t, p}, from: positions[p], around: c.cfg.Around}
		next, err := c.readPartition(ctx, r, fn)
		if err != nil {
			return fmt.Errorf("read %s/%d: %w", t, p, err)
		}
		positions[p] = next
	}
	return nil
}

// ReadAround is ReadAll for those who can do without what is damaged: it tells
// around of it and reads on behind it.
func (c *Client) ReadAround(ctx context.Context, t Topic, fn func(ingest.Record) error, around func(*Gap)) error {
	return reading{around: around}.each(ctx, c, t, fn)
}

// ReadEveryAround is ReadAround of every record that the log holds, also of aborted transactions, and in and behind
// those that are open. Each of these has a Record.Uncommitted.
func (c *Client) ReadEveryAround(ctx context.Context, t Topic, fn func(ingest.Record) error, around func(*Gap)) error {
	return reading{around: around, aborted: true}.each(ctx, c, t, fn)
}

// OneCopy is what fn of ReadCopies is told in a broker's place where one broker alone keeps a topic.
const OneCopy int32 = -1

// ReadCopies is ReadEveryAround of a topic as each of the brokers that keep it has it, and
// returns them, in order; none where one alone does. Each broker cleans its log in its own time, so that
// one may hold what the leader, which everybody else reads, has removed. Brokers come one after the other,
// partitions and records in order. A broker that is away or behind is waited for, up to where a partition
// ended when reading of it began. around is told of what is damaged, in each copy. If partitions move to other brokers
// meanwhile the error is ErrMoved.
func (c *Client) ReadCopies(
	ctx context.Context, t Topic, fn func(broker int32, rec ingest.Record) error,
	around func(broker int32, gap *Gap),
) (brokers []int32, err error) {
	kept, err := copiesOf(ctx, c, t)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	aroundOf := func(broker int32) func(*Gap) {
		if around == nil {
			return nil
		}
		return func(gap *Gap) { around(broker, gap) }
	}
	several := slices.ContainsFunc(kept, func(of []int32) bool { return len(of) > 1 })
	if !several {
		for p := range kept {
			at := reading{TopicPartition: TopicPartition{t, p}, aborted: true, around: aroundOf(OneCopy)}
			if _, err := c.readPartition(ctx, at, func(rec ingest.Record) error { return fn(OneCopy, rec) }); err != nil {
				return nil, fmt.Errorf("read %s: %w", at, err)
			}
		}
		return nil, nil
	}
	brokers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(kept...))))
	for _, broker := range brokers {
		for p, of := range kept {
			if !slices.Contains(of, broker) {
				continue
			}
			at := reading{TopicPartition: TopicPartition{t, p}, copy: &broker, aborted: true, around: aroundOf(broker)}
			if _, err := c.readPartition(ctx, at, func(rec ingest.Record) error { return fn(broker, rec) }); err != nil {
				return nil, fmt.Errorf("read %s: %w", at, err)
			}
		}
	}
	return brokers, nil
}

// copiesOf returns, by partition, the brokers that are to keep it, whether or not they are there.
func copiesOf(ctx context.Context, c *Client, t Topic) (kept [][]int32, err error) {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return nil, err
	}
	err = until(ctx, c, string(t), func() error {
		kept, err = copiesOnce(ctx, c, t, count)
		return err
	})
	return kept, err
}

func copiesOnce(ctx context.Context, c *Client, t Topic, count int) ([][]int32, error) {
	answer, err := c.link.transport.RoundTrip(ctx, c.link.address, &metadata.Request{TopicNames: []string{c.Name(t)}})
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	kept := make([][]int32, count)
	for _, topic := range answer.(*metadata.Response).Topics {
		for _, p := range topic.Partitions {
			if topic.Name == c.Name(t) && int(p.PartitionIndex) < count {
				kept[p.PartitionIndex] = p.ReplicaNodes
			}
		}
	}
	for p, of := range kept {
		if len(of) == 0 {
			return nil, fmt.Errorf("brokers of %s: %w", TopicPartition{t, p}, kafka.LeaderNotAvailable)
		}
	}
	return kept, nil
}

// reading is what is read of a partition.
type reading struct {
	TopicPartition
	// copy, if not nil, is the broker whose copy it is; otherwise it is the leader's.
	copy *int32
	// rack is where the reader is, for the leader to name a broker that is nearer.
	rack string
	// from is where it begins, or behind the start of the log.
	from int64
	// around, if not nil, is told of what is damaged, which then is no error.
	around func(*Gap)
	// aborted says that every record is read, and uncommitted that this goes for those behind the last stable
	// offset, which the broker does not tell from each other.
	aborted, uncommitted bool
}

// String names the partition, and whose copy it is.
func (r reading) String() string {
	if r.copy == nil {
		return r.TopicPartition.String()
	}
	return fmt.Sprintf("%s of broker %d", r.TopicPartition, *r.copy)
}

// each reads every partition of a topic so, from the start of its log.
func (r reading) each(ctx context.Context, c *Client, t Topic, fn func(ingest.Record) error) error {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	for p := range count {
		r.TopicPartition = TopicPartition{t, p}
		if _, err := c.readPartition(ctx, r, fn); err != nil {
			return fmt.Errorf("read %s/%d: %w", t, p, err)
		}
	}
	return nil
}

// readPartition reads from a position, or the start of the log if that is behind it, and
// returns where the log ended.
func (c *Client) readPartition(ctx context.Context, r reading, fn func(ingest.Record) error) (end int64, err error) {
	position, end, err := c.logRange(ctx, r.TopicPartition)
	if err != nil {
		return 0, err
	}
	if r.from <= end { // else the topic is another one than before
		position = max(position, r.from)
	}
	if end, err = newEffort(c, r.String()).readRange(ctx, r, position, end, fn); err != nil || !r.aborted {
		return end, err
	}
	stable, of := end, ranges{client: c, topic: r.Topic, uncommitted: true}
	if _, end, err = of.partition(ctx, r.Partition); err != nil {
		return 0, err
	}
	r.uncommitted = true
	return newEffort(c, r.String()).readRange(ctx, r, stable, end, func(rec ingest.Record) error {
		rec.Uncommitted = ingest.BehindOpen
		return fn(rec)
	})
}

// readRange reads from a position to the end of what is to be read, and returns that.
func (e *effort) readRange(
	ctx context.Context, r reading, position, end int64, fn func(ingest.Record) error,
) (int64, error) {
	defer e.abandoned()
	for position < end {
		got, err := readSome(ctx, e, r, position, end)
		if err != nil {
			return 0, err
		}
		for _, rec := range got.Records {
			if rec.Offset >= end {
				return end, nil
			}
			if err := fn(rec); err != nil {
				return 0, fmt.Errorf("record at offset %d: %w", rec.Offset, err)
			}
		}
		position = got.Next
	}
	return end, nil
}

// readable says that reading works, and what becomes of what is damaged.
func (r reading) readable(e *effort, damaged *protocol.DamageError) error {
	switch {
	case damaged == nil:
		e.worked()
		return nil
	case r.around == nil:
		return damaged
	default:
		r.around(damagedGap(e.client, r.TopicPartition, damaged))
		return nil
	}
}

// readSome reads what stands at a position. If that fails and may work later it waits, and returns no records
// and where to go on. The leader's log ends at end.
func readSome(ctx context.Context, e *effort, r reading, position, end int64) (protocol.Fetched, error) {
	c := e.client
	got, err := fetchAtMost(ctx, c, r, position, c.cfg.MaxFetchBytes)
	if err == nil && r.copy != nil && got.Next == position {
		err = errBehind
	}
	if err == nil {
		return got, r.readable(e, got.Damaged)
	}
	if errors.Is(err, kafka.OffsetOutOfRange) {
		// Compaction may move the start past the position meanwhile.
		start, _, rangeErr := c.logRange(ctx, r.TopicPartition)
		if rangeErr == nil && start > position {
			return protocol.Fetched{Next: start}, nil
		}
		if rangeErr != nil || r.copy == nil {
			return got, errors.Join(err, rangeErr)
		}
		if start, err = copyStart(ctx, c, r, end); err == nil && start > position {
			return protocol.Fetched{Next: min(start, end)}, nil
		}
		err = errBehind
	}
	return protocol.Fetched{Next: position}, retries(ctx, e, r, err)
}

// copyStart is where a broker's copy begins. Brokers remove what retention lets go each in its own time, and one that
// did so while another setting was in force may begin behind the leader for good. A copy that has not come as far as
// the leader's end is behind, which is an error.
func copyStart(ctx context.Context, c *Client, r reading, end int64) (int64, error) {
	const one = 1 // nothing is there: it is asked for where it begins
	got, err := fetchAtMost(ctx, c, r, end, one)
	return got.Start, err
}

// retries waits until a failed read is tried again, or returns why it is not.
func retries(ctx context.Context, e *effort, r reading, err error) error {
	c := e.client
	if r.copy == nil {
		return e.failed(ctx, c.diagnose(ctx, r.TopicPartition, err))
	}
	count := r.Partition + 1
	if kept, known := copiesOnce(ctx, c, r.Topic, count); known == nil && !slices.Contains(kept[r.Partition], *r.copy) {
		return fmt.Errorf("%w: broker %d", ErrMoved, *r.copy)
	}
	return e.failed(ctx, fmt.Errorf("broker %d keeps a copy: %w", *r.copy, err))
}

func fetchAtMost(ctx context.Context, c *Client, r reading, position int64, mostBytes int) (protocol.Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.fetchLimit())
	defer cancel()
	got, err := c.raw.Fetch(ctx, protocol.FetchRequest{
		Topic: c.Name(r.Topic), Partition: r.Partition, Copy: r.copy, Rack: r.rack, Position: position,
		Wait: c.cfg.FetchWait, MaxBytes: mostBytes, Aborted: r.aborted, Uncommitted: r.uncommitted,
	})
	c.seal.Load().examine(r.TopicPartition, got.Records)
	return got, err
}
