package train

import (
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// remove takes the slice of a timestep that is gone out of the store, after everything that
// was learnt from it on is removed. What was learnt through it has to be deleted from its
// topic. If it was the newest, what was learnt before it is published again, for it is the
// newest now.
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
