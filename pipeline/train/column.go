package train

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/sortedset"
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
	// checkpoints are the timesteps that have one, ascending.
	checkpoints []lethe.Timestep
	// trained is the newest of them, or NoTimestep.
	trained lethe.Timestep
	// newest is the checkpoint at trained, or nil.
	newest *trainer.Checkpoint
	// unsent are the timesteps whose checkpoint was not published, ascending.
	unsent []lethe.Timestep
	// withdrawn are the timesteps that are gone and whose model was not deleted
	// from its topic, ascending.
	withdrawn []lethe.Timestep
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
	c.timesteps, c.unsent, c.withdrawn, c.checkpoints = nil, nil, nil, nil
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
	for prefix, noted := range map[string]*[]lethe.Timestep{
		checkpointPrefix: &c.checkpoints, unsentPrefix: &c.unsent, withdrawnPrefix: &c.withdrawn,
	} {
		err = c.store.Scan([]byte(prefix), func(key, _ []byte) error {
			t, err := timestepkey.Parse(prefix, key)
			*noted = append(*noted, t)
			return err
		})
		if err != nil {
			return err
		}
	}
	c.unsent = slices.DeleteFunc(c.unsent, func(t lethe.Timestep) bool { return !slices.Contains(c.checkpoints, t) })
	if c.offset, err = readOffset(c.store); err != nil {
		return err
	}
	return c.standAt(c.checkpoints)
}

// readOffset returns the position behind the last record that was read.
func readOffset(store swapstore.Reader) (int64, error) {
	value, found, err := store.Get([]byte(offsetKey))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
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
// one, or removes one whose timestep is gone. Older and equal revisions only move
// the offset.
func (c *column) accept(m wire.Received) error {
	offset := binary.BigEndian.AppendUint64(nil, uint64(m.Next))
	if m.Deleted {
		if err := c.remove(m.Key.Timestep, offset); err != nil {
			return fmt.Errorf("shard %d timestep %d: remove slice: %w", c.shard, m.Key.Timestep, err)
		}
		c.offset = m.Next
		return nil
	}
	s, err := canonical.DecodeSlice(m.Payload)
	if s == nil {
		s = &lethe.Slice{}
	}
	if err := m.PayloadOf(err, s.Timestep, s.Shard); err != nil {
		return err
	}
	known, exists := c.links[s.Timestep]
	link := sliceLink{revision: m.Revision, previous: s.Previous}
	value := storedSlice(link, m.Payload)
	same := false
	if exists && known.revision < m.Revision {
		if same, err = c.holds(s.Timestep, m.Payload); err != nil {
			return fmt.Errorf("shard %d timestep %d: %w", c.shard, s.Timestep, err)
		}
	}
	switch {
	case exists && known.revision >= m.Revision:
		err = c.store.Apply(func(w swapstore.Writer) error { return w.Set([]byte(offsetKey), offset) })
	case exists && !same:
		err = c.replace(s.Timestep, link, value, offset)
	default:
		err = c.store.Apply(func(w swapstore.Writer) error {
			if err := w.Set(timestepkey.New(slicePrefix, s.Timestep), value); err != nil {
				return err
			}
			return w.Set([]byte(offsetKey), offset)
		})
		if err == nil {
			c.links[s.Timestep] = link
			c.timesteps = sortedset.Add(c.timesteps, s.Timestep)
		}
	}
	if err != nil {
		return fmt.Errorf("shard %d timestep %d: store slice: %w", c.shard, s.Timestep, err)
	}
	c.offset = m.Next
	return nil
}

// holds reports whether the stored slice of a timestep has these bytes: then a
// newer revision of it changes nothing.
func (c *column) holds(t lethe.Timestep, payload []byte) (bool, error) {
	value, found, err := c.store.Get(timestepkey.New(slicePrefix, t))
	if err != nil || !found {
		return false, err
	}
	_, stored, err := splitStoredSlice(value)
	return bytes.Equal(stored, payload), err
}

// next returns the timestep to train next: the one that follows the newest
// checkpoint. A slice that was erased and replaced stands later in the topic
// than its successors, so a column that is rebuilt must wait for it.
func (c *column) next() (lethe.Timestep, bool) { return c.after(c.trained) }

// after returns the timestep that follows one that was trained through.
func (c *column) after(trained lethe.Timestep) (lethe.Timestep, bool) {
	at, found := slices.BinarySearch(c.timesteps, trained)
	if found {
		at++
	}
	if at == len(c.timesteps) || c.links[c.timesteps[at]].previous != trained {
		return lethe.NoTimestep, false
	}
	return c.timesteps[at], true
}
