package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// column is one shard through time: its store, and in memory what is needed to
// decide what to train next. One goroutine uses it at a time.
type column struct {
	shard lethe.ShardID
	store *swapstore.Store
	// links of the stored slices, by timestep.
	links map[lethe.Timestep]sliceLink
	// timesteps of the stored slices, ascending.
	timesteps []lethe.Timestep
	// trained is the newest timestep with a checkpoint, or NoTimestep.
	trained lethe.Timestep
	// newest is the checkpoint at trained, or nil.
	newest *trainer.Checkpoint
	// recent caches the decoded slices of the window.
	recent map[lethe.Timestep]*lethe.Slice
	// replayThrough is the newest timestep that was trained before a slice was
	// replaced: up to it, training unlearns.
	replayThrough lethe.Timestep
	// offset is where the shard's topic partition is resumed.
	offset int64
}

// openColumn opens the shard's store and reads where it stands.
func openColumn(dir string, shard lethe.ShardID) (*column, error) {
	store, err := swapstore.Open(dir, swapstore.Options{})
	if err != nil {
		return nil, fmt.Errorf("shard %d: open store: %w", shard, err)
	}
	c := &column{shard: shard, store: store, replayThrough: lethe.NoTimestep}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("shard %d: read store: %w (remove the folder %s and start again: it is rebuilt from the topics)",
			shard, errors.Join(err, store.Close()), dir)
	}
	return c, nil
}

// load reads the column's state from its store.
func (c *column) load() error {
	c.links = make(map[lethe.Timestep]sliceLink)
	c.recent = make(map[lethe.Timestep]*lethe.Slice)
	c.timesteps, c.trained, c.newest = nil, lethe.NoTimestep, nil
	err := c.store.Scan([]byte(slicePrefix), func(key, value []byte) error {
		t, err := timestepOf(slicePrefix, key)
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
		t, err := timestepOf(checkpointPrefix, key)
		c.trained = t
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
	value, found, err := c.store.Get(timestepKey(checkpointPrefix, t))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("no checkpoint after timestep %d", t)
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
			if err := w.Set(timestepKey(slicePrefix, s.Timestep), value); err != nil {
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

// replace rewrites the store with another slice at t and without any
// checkpoint from t on. The old bytes are unlinked when it returns.
func (c *column) replace(ctx context.Context, t lethe.Timestep, value, offset []byte) error {
	sliceKey := string(timestepKey(slicePrefix, t))
	firstGone := string(timestepKey(checkpointPrefix, t))
	firstUnsent := string(timestepKey(unsentPrefix, t))
	err := c.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, old []byte) error {
			k := string(key)
			switch {
			case k == sliceKey:
				return dst.Set(key, value)
			case k == offsetKey:
				return dst.Set(key, offset)
			case strings.HasPrefix(k, checkpointPrefix) && k >= firstGone:
				return nil
			case strings.HasPrefix(k, unsentPrefix) && k >= firstUnsent:
				return nil
			}
			return dst.Set(key, old)
		})
	})
	if err != nil {
		return err
	}
	c.replayThrough = max(c.replayThrough, c.trained)
	return c.load()
}

// forget writes the store anew without any checkpoint, so that the shard is
// trained again from its first slice.
func (c *column) forget(ctx context.Context) error {
	err := c.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if k := string(key); strings.HasPrefix(k, checkpointPrefix) || strings.HasPrefix(k, unsentPrefix) {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("shard %d: forget checkpoints: %w", c.shard, err)
	}
	return c.load()
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

// windowAt returns the last size slices up to and including t, ascending.
func (c *column) windowAt(t lethe.Timestep, size int) ([]*lethe.Slice, error) {
	end, found := slices.BinarySearch(c.timesteps, t)
	if !found {
		return nil, fmt.Errorf("no slice of timestep %d", t)
	}
	first := max(0, end+1-size)
	out := make([]*lethe.Slice, 0, end+1-first)
	for _, at := range c.timesteps[first : end+1] {
		s, err := c.slice(at)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for at := range c.recent {
		if at < c.timesteps[first] {
			delete(c.recent, at)
		}
	}
	return out, nil
}

// slice returns a stored slice, from memory when it is there.
func (c *column) slice(t lethe.Timestep) (*lethe.Slice, error) {
	if s, ok := c.recent[t]; ok {
		return s, nil
	}
	value, found, err := c.store.Get(timestepKey(slicePrefix, t))
	if err != nil {
		return nil, fmt.Errorf("slice of timestep %d: %w", t, err)
	}
	if !found {
		return nil, fmt.Errorf("slice of timestep %d is missing", t)
	}
	_, message, err := splitStoredSlice(value)
	if err != nil {
		return nil, err
	}
	s, err := canonical.DecodeSlice(message)
	if err != nil {
		return nil, err
	}
	c.recent[t] = s
	return s, nil
}

// unsent returns the timesteps whose checkpoint was not published, ascending.
func (c *column) unsent() ([]lethe.Timestep, error) {
	var out []lethe.Timestep
	err := c.store.Scan([]byte(unsentPrefix), func(key, _ []byte) error {
		t, err := timestepOf(unsentPrefix, key)
		out = append(out, t)
		return err
	})
	return out, err
}
