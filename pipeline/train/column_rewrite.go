package train

import (
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// replace puts another slice at t, or none if the value is nil, after everything that
// was learnt from t on is removed. The old bytes are unlinked when it returns.
// Killed in between, the old slice is learnt from again until the new one is delivered
// again.
func (c *column) replace(t lethe.Timestep, link sliceLink, value, offset []byte) error {
	for _, l := range c.learners {
		if err := l.unlearn(t); err != nil {
			return err
		}
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		key := timestepkey.New(slicePrefix, t)
		err := w.Delete(key)
		if value != nil {
			err = w.Set(key, value)
		}
		if err != nil {
			return err
		}
		return w.Set([]byte(offsetKey), offset)
	})
	if err != nil {
		return err
	}
	if c.links[t] = link; value == nil {
		delete(c.links, t)
		c.timesteps = slices.DeleteFunc(c.timesteps, func(at lethe.Timestep) bool { return at == t })
	}
	return nil
}

// remove takes the slice of a timestep that is gone out of the store, as replace
// does. What was learnt through it has to be deleted from its topic. If it was the
// newest, what was learnt before it is published again, for it is the newest now.
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
	if !found {
		return c.store.Apply(func(w swapstore.Writer) error { return w.Set([]byte(offsetKey), offset) })
	}
	return c.replace(t, sliceLink{}, nil, offset)
}
