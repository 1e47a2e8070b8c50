package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// errMissing marks what the store should hold and does not.
var errMissing = errors.New("missing from the store")

// column is one shard through time: its store, and in memory what is needed to
// decide what to train next. One goroutine uses it at a time.
type column struct {
	shard lethe.ShardID
	store role.Store
	// links of the stored slices, by timestep.
	links map[lethe.Timestep]sliceLink
	// timesteps of the stored slices, ascending.
	timesteps []lethe.Timestep
	// trained is the newest timestep with a checkpoint, or NoTimestep.
	trained lethe.Timestep
	// newest is the checkpoint at trained, or nil.
	newest *trainer.Checkpoint
	// unsent are the timesteps whose checkpoint was not published, ascending.
	unsent []lethe.Timestep
	// recent caches the decoded slices of the window.
	recent map[lethe.Timestep]*lethe.Slice
	// replayThrough is the newest timestep that was trained before a slice was
	// replaced: up to it, training unlearns.
	replayThrough lethe.Timestep
	// offset is where the shard's topic partition is resumed.
	offset int64
}

// openColumn reads from a store where the shard stands.
func openColumn(store role.Store, shard lethe.ShardID) (*column, error) {
	c := &column{shard: shard, store: store, replayThrough: lethe.NoTimestep}
	return c, c.load()
}

// load reads the column's state from its store.
func (c *column) load() error {
	c.links = make(map[lethe.Timestep]sliceLink)
	c.recent = make(map[lethe.Timestep]*lethe.Slice)
	c.timesteps, c.unsent, c.trained, c.newest = nil, nil, lethe.NoTimestep, nil
	err := c.store.Scan([]byte(slicePrefix), func(key, value []byte) error {
		t, err := timestepkey.Parse(slicePrefix, key)
		if err != nil {
			return err
		}
		link, _, err := splitStoredSlice(value)
		if err != nil {
			return err
		}
		c.links[t] = link
		c.timesteps = append(c.timesteps, t)
		return nil
	})
	if err != nil {
		return err
	}
	err = c.store.Scan([]byte(checkpointPrefix), func(key, _ []byte) error {
		t, err := timestepkey.Parse(checkpointPrefix, key)
		c.trained = t
		return err
	})
	if err != nil {
		return err
	}
	err = c.store.Scan([]byte(unsentPrefix), func(key, _ []byte) error {
		t, err := timestepkey.Parse(unsentPrefix, key)
		c.unsent = append(c.unsent, t)
		return err
	})
	if err != nil {
		return err
	}
	value, found, err := c.store.Get([]byte(offsetKey))
	if err != nil {
		return err
	}
	if found {
		c.offset = int64(binary.BigEndian.Uint64(value))
	}
	if c.trained == lethe.NoTimestep {
		return nil
	}
	c.newest, err = c.checkpoint(c.trained)
	return err
}

// checkpoint reads and decodes the checkpoint after a timestep.
func (c *column) checkpoint(t lethe.Timestep) (*trainer.Checkpoint, error) {
	value, found, err := c.store.Get(timestepkey.New(checkpointPrefix, t))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("checkpoint after timestep %d: %w", t, errMissing)
	}
	return trainer.DecodeCheckpoint(value)
}

// accept stores a slice that arrived, in place of an older revision if there is
// one. Older and equal revisions only move the offset.
func (c *column) accept(ctx context.Context, m wire.Received) error {
	s, err := canonical.DecodeSlice(m.Payload)
	if err != nil {
		return fmt.Errorf("message %s: %w", m.Key, err)
	}
	known, exists := c.links[s.Timestep]
	link := sliceLink{revision: m.Revision, previous: s.Previous}
	offset := binary.BigEndian.AppendUint64(nil, uint64(m.Next))
	value := storedSlice(link, m.Payload)
	switch {
	case exists && known.revision >= m.Revision:
		err = c.store.Apply(func(w swapstore.Writer) error { return w.Set([]byte(offsetKey), offset) })
	case exists:
		err = c.replace(ctx, s.Timestep, value, offset)
	default:
		err = c.store.Apply(func(w swapstore.Writer) error {
			if err := w.Set(timestepkey.New(slicePrefix, s.Timestep), value); err != nil {
				return err
			}
			return w.Set([]byte(offsetKey), offset)
		})
		if err == nil {
			c.links[s.Timestep] = link
			c.timesteps = append(c.timesteps, s.Timestep)
			slices.Sort(c.timesteps)
		}
	}
	if err != nil {
		return fmt.Errorf("shard %d timestep %d: store slice: %w", c.shard, s.Timestep, err)
	}
	c.offset = m.Next
	return nil
}

// next returns the timestep to train next: the one that follows the newest
// checkpoint. A slice that was erased and replaced stands later in the topic
// than its successors, so a column that is rebuilt must wait for it.
func (c *column) next() (lethe.Timestep, bool) {
	at, found := slices.BinarySearch(c.timesteps, c.trained)
	if found {
		at++
	}
	if at == len(c.timesteps) || c.links[c.timesteps[at]].previous != c.trained {
		return lethe.NoTimestep, false
	}
	return c.timesteps[at], true
}
