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
)

// errMissing marks what the store should hold and does not.
var errMissing = errors.New("missing from the store")

// column is the slices of one shard through time: its store, and in memory where they
// stand. One goroutine changes it, and only while no model is trained.
type column struct {
	shard lethe.ShardID
	store role.Store
	// links of the stored slices, by timestep.
	links map[lethe.Timestep]sliceLink
	// timesteps of the stored slices, ascending.
	timesteps []lethe.Timestep
	// learners are what learns from the slices.
	learners []learner
	// offset is where the shard's topic partition is resumed.
	offset int64
}

// learner is what learns from slices: a model, or the meta-model.
type learner interface {
	// unlearn removes everything that was learnt through a timestep or a later one.
	unlearn(from lethe.Timestep) error
	// withdraw notes that a timestep is gone, so that what was learnt through it has
	// to be deleted from its topic. newest is the timestep before it if it was the newest,
	// else NoTimestep: what was learnt through that is the newest again.
	withdraw(t, newest lethe.Timestep) error
}

// openColumn reads from a store where the shard stands.
func openColumn(store role.Store, shard lethe.ShardID) (*column, error) {
	c := &column{shard: shard, store: store, links: make(map[lethe.Timestep]sliceLink)}
	err := store.Scan([]byte(slicePrefix), func(key, value []byte) error {
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
		return c, err
	}
	c.offset, err = readOffset(store)
	return c, err
}

// readOffset returns the position behind the last record that was read.
func readOffset(store swapstore.Reader) (int64, error) {
	value, found, err := store.Get([]byte(offsetKey))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// accept stores a slice that arrived, in place of an older revision if there is
// one, or removes one whose timestep is gone. Older and equal revisions only move
// the offset. It reports whether a slice was replaced or removed.
func (c *column) accept(m wire.Received) (replaced bool, err error) {
	offset := binary.BigEndian.AppendUint64(nil, uint64(m.Next))
	if m.Deleted {
		if err := c.remove(m.Key.Timestep, offset); err != nil {
			return true, fmt.Errorf("shard %d timestep %d: remove slice: %w", c.shard, m.Key.Timestep, err)
		}
		c.offset = m.Next
		return true, nil
	}
	s, err := canonical.DecodeSlice(m.Payload)
	if s == nil {
		s = &lethe.Slice{}
	}
	if err := m.PayloadOf(err, s.Timestep, s.Shard); err != nil {
		return false, err
	}
	if replaced, err = c.put(m, s, offset); err != nil {
		return replaced, fmt.Errorf("shard %d timestep %d: store slice: %w", c.shard, s.Timestep, err)
	}
	c.offset = m.Next
	return replaced, nil
}

// put stores a slice, unless a newer one is there.
func (c *column) put(m wire.Received, s *lethe.Slice, offset []byte) (replaced bool, err error) {
	known, exists := c.links[s.Timestep]
	link := sliceLink{revision: m.Revision, previous: s.Previous}
	value := storedSlice(link, m.Payload)
	same := false
	if exists && known.revision < m.Revision {
		if same, err = c.holds(s.Timestep, m.Payload); err != nil {
			return false, err
		}
	}
	switch {
	case exists && known.revision >= m.Revision:
		return false, c.store.Apply(func(w swapstore.Writer) error { return w.Set([]byte(offsetKey), offset) })
	case exists && !same:
		return true, c.replace(s.Timestep, link, value, offset)
	}
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
	return false, err
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

// slice reads a stored slice.
func (c *column) slice(t lethe.Timestep) (*lethe.Slice, error) {
	value, found, err := c.store.Get(timestepkey.New(slicePrefix, t))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("shard %d: slice of timestep %d: %w", c.shard, t, err)
	}
	_, message, err := splitStoredSlice(value)
	if err != nil {
		return nil, err
	}
	return canonical.DecodeSlice(message)
}

// newest returns the newest timestep that has a slice, or NoTimestep.
func (c *column) newest() lethe.Timestep {
	if len(c.timesteps) == 0 {
		return lethe.NoTimestep
	}
	return c.timesteps[len(c.timesteps)-1]
}

// before returns the timestep before one that has a slice, or NoTimestep.
func (c *column) before(t lethe.Timestep) lethe.Timestep {
	if at, found := slices.BinarySearch(c.timesteps, t); found && at > 0 {
		return c.timesteps[at-1]
	}
	return lethe.NoTimestep
}
