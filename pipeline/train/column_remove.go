package train

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// removePassedOver removes slices that a new one's predecessor rules out, and reports whether there were any: they
// are gone, and their deletion was compacted away unread. (A timestep inserted between is read before those behind
// it name it.)
func (c *column) removePassedOver(s *lethe.Slice) (removed bool, err error) {
	isBetween := func(t lethe.Timestep) bool { return s.Previous < t && t < s.Timestep }
	arrived := slices.Collect(maps.Keys(c.in.slices))
	if !slices.ContainsFunc(c.timesteps, isBetween) && !slices.ContainsFunc(arrived, isBetween) {
		return false, nil
	}
	if err := c.flush(); err != nil {
		return false, err
	}
	offset := binary.BigEndian.AppendUint64(nil, uint64(c.offset))
	for _, t := range slices.Clone(c.timesteps) {
		if !isBetween(t) {
			continue
		}
		if err := c.remove(t, offset); err != nil {
			return true, fmt.Errorf("remove the slice of timestep %d: %w", t, err)
		}
	}
	return true, nil
}

// remove deletes the slice of a timestep that is gone, after all that was learnt from it on, and has its models
// deleted from their topic. If it was the newest, the models before it are published again.
func (c *column) remove(t lethe.Timestep, offset []byte) error {
	_, found := c.links[t]
	newest := lethe.NoTimestep
	if found && t == c.newest() {
		newest = c.before(t)
	}
	for _, l := range c.learners {
		if err := l.withdraw(t, newest); err != nil {
			return err
		}
	}
	if found {
		if err := c.unlearn(t); err != nil {
			return err
		}
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		if found {
			if err := w.Delete(timestepkey.New(slicePrefix, t)); err != nil {
				return err
			}
		}
		return w.Set([]byte(offsetKey), offset)
	})
	if err == nil && found {
		delete(c.links, t)
		delete(c.digests, t)
		c.timesteps = slices.DeleteFunc(c.timesteps, func(at lethe.Timestep) bool { return at == t })
	}
	return err
}
