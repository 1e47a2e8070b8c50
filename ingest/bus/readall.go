package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
)

// ReadAll calls fn for every record of a topic from the start of the log to
// where it ended when ReadAll began: partition by partition, in order. It
// stops at fn's first error and returns it, wrapped. Records share memory with
// their neighbours; copy what is kept. Where the log is damaged the error is
// ErrCorrupt and names the offsets.
func (c *Client) ReadAll(ctx context.Context, t Topic, fn func(ingest.Record) error) error {
	return c.ReadAround(ctx, t, fn, nil)
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
		next, err := c.readPartition(ctx, TopicPartition{t, p}, positions[p], fn, nil)
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
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	for p := range count {
		if _, err := c.readPartition(ctx, TopicPartition{t, p}, 0, fn, around); err != nil {
			return fmt.Errorf("read %s/%d: %w", t, p, err)
		}
	}
	return nil
}

// readPartition reads from a position, or the start of the log if that is behind it, and
// returns where the log ended.
func (c *Client) readPartition(
	ctx context.Context, tp TopicPartition, from int64, fn func(ingest.Record) error, around func(*Gap),
) (end int64, err error) {
	position, end, err := c.logRange(ctx, tp)
	if err != nil {
		return 0, err
	}
	if from <= end { // else the topic is another one than before
		position = max(position, from)
	}
	e := newEffort(c, tp.String())
	defer e.abandoned()
	for position < end {
		got, err := fetchOnce(ctx, c, tp, position)
		switch {
		case err == nil && got.Damaged != nil && around == nil:
			return 0, got.Damaged
		case err == nil && got.Damaged != nil:
			around(damagedGap(c, tp, got.Damaged))
		case err == nil:
			e.worked()
		case errors.Is(err, kafka.OffsetOutOfRange):
			// Compaction may move the start past the position meanwhile.
			start, _, rangeErr := c.logRange(ctx, tp)
			if rangeErr != nil || start <= position {
				return 0, errors.Join(err, rangeErr)
			}
			position = start
			continue
		default:
			if err := e.failed(ctx, c.diagnose(ctx, tp, err)); err != nil {
				return 0, err
			}
			continue
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

// Holds reports whether a partition's log still has the record at an offset: a broker that has cleaned the
// log does not. It reads one batch.
func (c *Client) Holds(ctx context.Context, tp TopicPartition, offset int64) (held bool, err error) {
	const oneBatch = 1 // a broker sends one that is larger than asked for whole
	e := newEffort(c, tp.String())
	defer e.abandoned()
	for {
		got, err := fetchAtMost(ctx, c, tp, offset, oneBatch)
		switch {
		case err == nil:
			e.worked()
			return len(got.Records) > 0 && got.Records[0].Offset == offset, nil
		case errors.Is(err, kafka.OffsetOutOfRange):
			return false, nil
		}
		if err := e.failed(ctx, c.diagnose(ctx, tp, err)); err != nil {
			return false, fmt.Errorf("read %s@%d: %w", tp, offset, err)
		}
	}
}

func fetchOnce(ctx context.Context, c *Client, tp TopicPartition, position int64) (protocol.Fetched, error) {
	return fetchAtMost(ctx, c, tp, position, c.cfg.MaxFetchBytes)
}

func fetchAtMost(
	ctx context.Context, c *Client, tp TopicPartition, position int64, mostBytes int,
) (protocol.Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.FetchWait+c.cfg.RequestTimeout)
	defer cancel()
	got, err := c.raw.Fetch(ctx, protocol.FetchRequest{
		Topic: c.Name(tp.Topic), Partition: tp.Partition, Position: position,
		Wait: c.cfg.FetchWait, MaxBytes: mostBytes,
	})
	c.seal.Load().examine(tp, got.Records)
	return got, err
}
