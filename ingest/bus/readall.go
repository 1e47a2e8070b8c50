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

// ReadAround is ReadAll for those who can do without what is damaged: it tells
// around of it and reads on behind it.
func (c *Client) ReadAround(ctx context.Context, t Topic, fn func(ingest.Record) error, around func(*Gap)) error {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t, err)
	}
	for p := range count {
		if err := c.readPartition(ctx, TopicPartition{t, p}, fn, around); err != nil {
			return fmt.Errorf("read %s/%d: %w", t, p, err)
		}
	}
	return nil
}

func (c *Client) readPartition(
	ctx context.Context, tp TopicPartition, fn func(ingest.Record) error, around func(*Gap),
) error {
	position, end, err := c.logRange(ctx, tp)
	if err != nil {
		return err
	}
	e := newEffort(c, tp.String())
	for position < end {
		got, err := c.fetchOnce(ctx, tp, position)
		switch {
		case err == nil && got.Damaged != nil && around == nil:
			return got.Damaged
		case err == nil && got.Damaged != nil:
			around(damagedGap(c, tp, got.Damaged))
		case err == nil:
			e.worked()
		case errors.Is(err, kafka.OffsetOutOfRange):
			// Compaction may move the start past the position meanwhile.
			start, _, rangeErr := c.logRange(ctx, tp)
			if rangeErr != nil || start <= position {
				return errors.Join(err, rangeErr)
			}
			position = start
			continue
		default:
			if err := e.failed(ctx, err); err != nil {
				return c.explain(ctx, err)
			}
			continue
		}
		for _, rec := range got.Records {
			if rec.Offset >= end {
				return nil
			}
			if err := fn(rec); err != nil {
				return fmt.Errorf("record at offset %d: %w", rec.Offset, err)
			}
		}
		position = got.Next
	}
	return nil
}

func (c *Client) fetchOnce(ctx context.Context, tp TopicPartition, position int64) (protocol.Fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.FetchWait+c.cfg.RequestTimeout)
	defer cancel()
	return c.raw.Fetch(ctx, protocol.FetchRequest{
		Topic: c.Name(tp.Topic), Partition: tp.Partition, Position: position,
		Wait: c.cfg.FetchWait, MaxBytes: c.cfg.MaxBatchBytes,
	})
}
