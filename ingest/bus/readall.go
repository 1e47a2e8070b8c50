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

// ReadAll calls fn for every record of a topic from the start of the log to its end at the time of the call:
// partition by partition, in order. It stops at fn's first error and returns it, wrapped. Records share memory with
// their neighbours; copy what is retained. If the log is damaged the error is ErrCorrupt and names the offsets,
// unless Config.Around is set.
func (c *Client) ReadAll(ctx context.Context, t Topic, fn func(ingest.Record) error) error {
	return c.ReadAround(ctx, t, fn, c.cfg.Around)
}

// ReadAround is ReadAll for callers that tolerate damage: it calls around for each damaged range and continues after
// it.
func (c *Client) ReadAround(ctx context.Context, t Topic, fn func(ingest.Record) error, around func(*Gap)) error {
	return reading{around: around}.each(ctx, c, t, map[int]int64{}, fn)
}

// ReadEveryAround is ReadAround for every record in the log, including those of aborted transactions, and those in
// and after open transactions. Each of these has a Record.Uncommitted.
func (c *Client) ReadEveryAround(ctx context.Context, t Topic, fn func(ingest.Record) error, around func(*Gap)) error {
	return reading{around: around, aborted: true}.each(ctx, c, t, map[int]int64{}, fn)
}

// ReadNew is ReadAll from the positions on, by partition, and advances them. A partition without a position is read
// from the start of the log. After an error only the positions of completely read partitions have advanced.
func (c *Client) ReadNew(
	ctx context.Context, t Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return reading{around: c.cfg.Around}.each(ctx, c, t, positions, fn)
}

// OneCopy is passed to the fn of ReadCopies in place of a broker id if a topic has a single replica.
const OneCopy int32 = -1

// ReadCopies is ReadEveryAround for each replica of a topic. It returns the brokers of the replicas, in order, or
// none if there is a single one. Brokers clean their logs independently, so a replica may still hold records that
// the leader, which all other reads use, has removed. Brokers are read one after the other, partitions and records
// in order. ReadCopies waits for a broker that is down or behind, until it has read a partition to its end at the
// start of the read. around is called for damaged ranges, in each replica. If partitions move to other brokers
// meanwhile the error is ErrMoved.
func (c *Client) ReadCopies(
	ctx context.Context, t Topic, fn func(broker int32, rec ingest.Record) error,
	around func(broker int32, gap *Gap),
) (brokers []int32, err error) {
	kept, err := copiesOf(ctx, c, t)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	several := slices.ContainsFunc(kept, func(of []int32) bool { return len(of) > 1 })
	if several {
		brokers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(kept...))))
	}
	read := func(broker int32, at reading) error {
		if at.aborted = true; around != nil {
			at.around = func(gap *Gap) { around(broker, gap) }
		}
		if _, err := c.readPartition(ctx, at, func(rec ingest.Record) error { return fn(broker, rec) }); err != nil {
			return fmt.Errorf("read %s: %w", at, err)
		}
		return nil
	}
	for p := 0; p < len(kept) && !several; p++ {
		if err := read(OneCopy, reading{TopicPartition: TopicPartition{t, p}}); err != nil {
			return nil, err
		}
	}
	for _, broker := range brokers {
		for p, of := range kept {
			if !slices.Contains(of, broker) {
				continue
			}
			if err := read(broker, reading{TopicPartition: TopicPartition{t, p}, copy: &broker}); err != nil {
				return nil, err
			}
		}
	}
	return brokers, nil
}

// copiesOf returns, by partition, the brokers that are assigned a replica, whether or not they are up.
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

// reading describes how a partition is read.
type reading struct {
	TopicPartition
	// copy, if not nil, is the broker of the replica to read; otherwise the leader is read.
	copy *int32
	// rack is the rack of the reader, from which the leader selects the nearest replica.
	rack string
	// from is the first offset to read, unless the log starts after it.
	from int64
	// around, if not nil, is called for damaged ranges, which are then no error.
	around func(*Gap)
	// aborted means that records of aborted transactions are read, and uncommitted also those after the last stable
	// offset, among which the broker does not distinguish aborted from open ones.
	aborted, uncommitted bool
}

// String returns the partition, and the broker of the replica.
func (r reading) String() string {
	if r.copy == nil {
		return r.TopicPartition.String()
	}
	return fmt.Sprintf("%s of broker %d", r.TopicPartition, *r.copy)
}

// each reads every partition of a topic in this way, from its position on, and advances the positions.
func (r reading) each(
	ctx context.Context, c *Client, t Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	for p := range count {
		r.TopicPartition, r.from = TopicPartition{t, p}, positions[p]
		next, err := c.readPartition(ctx, r, fn)
		if err != nil {
			return fmt.Errorf("read %s/%d: %w", t, p, err)
		}
		positions[p] = next
	}
	return nil
}

// readPartition reads from a position, or the start of the log if that is later, and returns where the log ended.
func (c *Client) readPartition(ctx context.Context, r reading, fn func(ingest.Record) error) (end int64, err error) {
	position, end, err := c.logRange(ctx, r.TopicPartition)
	if err != nil {
		return 0, err
	}
	if r.from <= end { // else the topic has been created again
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

// readRange reads from a position to the end of the range, and returns that end.
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

// readable reports that reading works, and skips damage if that is allowed.
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

// readSome reads records from a position on. After a temporary failure it waits, and returns no records and the
// position to continue at. The leader's log ends at end.
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
		// Compaction may have moved the start past the position.
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

// copyStart is the start of a replica's log. Brokers apply retention independently, and a replica that did so under
// another setting may start later than the leader forever. A replica that has not reached the leader's end is
// behind, which is an error.
func copyStart(ctx context.Context, c *Client, r reading, end int64) (int64, error) {
	const one = 1 // there are no records to read: only the start is requested
	got, err := fetchAtMost(ctx, c, r, end, one)
	return got.Start, err
}

// retries waits until a failed read is due for a retry, or returns why there is none.
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
