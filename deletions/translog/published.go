package translog

import (
	"bytes"
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Reader reads the published log; *bus.Client is one.
type Reader interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// ReadPublished reads the log from log.v1.
func ReadPublished(ctx context.Context, r Reader) (Copy, error) {
	var c reading
	if err := readPublished(ctx, r, c.take); err != nil {
		return Copy{}, err
	}
	return c.copy(), nil
}

func readPublished(ctx context.Context, r Reader, take func(rec ingest.Record)) error {
	err := r.ReadAll(ctx, bus.Log, func(rec ingest.Record) error {
		take(rec)
		return nil
	})
	if err != nil {
		return fmt.Errorf("transparency log in %s: %w", bus.Log, err)
	}
	return nil
}

// reading is the content of log.v1 as read.
type reading struct {
	leaves     map[int64][]byte
	checkpoint string
}

func (c *reading) take(rec ingest.Record) {
	if c.leaves == nil {
		c.leaves = make(map[int64][]byte)
	}
	index := parseIndex(string(rec.Key))
	switch {
	case string(rec.Key) == checkpointRecord:
		c.checkpoint = string(rec.Value)
	case index < 0:
	case rec.Tombstone():
		delete(c.leaves, index)
	default:
		c.leaves[index] = bytes.Clone(rec.Value)
	}
}

func (c *reading) copy() Copy {
	out := Copy{Checkpoint: c.checkpoint}
	for leaf, found := c.leaves[0]; found; leaf, found = c.leaves[int64(len(out.Leaves))] {
		out.Leaves = append(out.Leaves, leaf)
	}
	out.Beyond = len(c.leaves) - len(out.Leaves)
	return out
}
