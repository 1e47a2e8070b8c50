package train

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
)

// incoming are slices to be stored in one write: an erasure sends every shard dozens.
type incoming struct {
	slices   map[lethe.Timestep]newSlice
	replaced []lethe.Timestep
	// any: something has arrived. next is the position then.
	any  bool
	next int64
}

type newSlice struct {
	link    sliceLink
	payload []byte
}

// accept adds a slice of a newer revision, or removes one of a timestep that is gone, and reports whether one is
// replaced or removed. flush stores it.
func (c *column) accept(m wire.Received) (replaced bool, err error) {
	if m.Deleted {
		if err := c.flush(); err != nil {
			return false, err
		}
		if err := c.remove(m.Key.Timestep, binary.BigEndian.AppendUint64(nil, uint64(m.Next))); err != nil {
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
	known, exists := c.linkOf(s.Timestep)
	if exists && known.revision >= m.Revision {
		c.in.any, c.in.next = true, m.Next
		return false, nil
	}
	if replaced, err = c.removePassedOver(s); err != nil {
		return replaced, fmt.Errorf("shard %d timestep %d: %w", c.shard, s.Timestep, err)
	}
	c.in.any, c.in.next = true, m.Next
	if exists {
		same, err := c.holds(s.Timestep, m.Payload)
		if err != nil {
			return false, fmt.Errorf("shard %d timestep %d: stored slice: %w", c.shard, s.Timestep, err)
		}
		if replaced = replaced || !same; !same {
			c.in.replaced = append(c.in.replaced, s.Timestep)
		}
	}
	if c.in.slices == nil {
		c.in.slices = make(map[lethe.Timestep]newSlice)
	}
	c.in.slices[s.Timestep] = newSlice{sliceLink{revision: m.Revision, previous: s.Previous}, m.Payload}
	return replaced, nil
}

// linkOf returns the link of a stored or incoming slice.
func (c *column) linkOf(t lethe.Timestep) (sliceLink, bool) {
	if s, arrived := c.in.slices[t]; arrived {
		return s.link, true
	}
	link, exists := c.links[t]
	return link, exists
}

// holds reports whether a slice has these bytes: a new revision changes nothing then.
func (c *column) holds(t lethe.Timestep, payload []byte) (bool, error) {
	if s, arrived := c.in.slices[t]; arrived {
		return bytes.Equal(s.payload, payload), nil
	}
	value, found, err := c.store.Get(timestepkey.New(slicePrefix, t))
	if err != nil || !found {
		return false, err
	}
	_, stored, err := splitStoredSlice(value)
	return bytes.Equal(stored, payload), err
}

// flush unlearns replaced slices, stores what arrived and unlinks the old bytes. The offset is
// stored with the slices: after a crash in between, the old ones are learnt until the new ones are read again.
func (c *column) flush() error {
	in := c.in
	if !in.any {
		return nil
	}
	c.in = incoming{}
	if len(in.replaced) > 0 {
		if err := c.unlearn(slices.Min(in.replaced)); err != nil {
			return err
		}
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		for t, s := range in.slices {
			w.Set(timestepkey.New(slicePrefix, t), storedSlice(s.link, s.payload))
		}
		w.Set([]byte(offsetKey), binary.BigEndian.AppendUint64(nil, uint64(in.next)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("shard %d timesteps %v: store slices: %w", c.shard, slices.Sorted(maps.Keys(in.slices)), err)
	}
	for t, s := range in.slices {
		c.links[t], c.timesteps = s.link, sortedset.Add(c.timesteps, t)
		delete(c.digests, t)
	}
	c.offset = in.next
	return nil
}

func (c *column) unlearn(from lethe.Timestep) error {
	for _, l := range c.learners {
		if err := l.unlearn(from); err != nil {
			return err
		}
	}
	return nil
}
