package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// replace puts another slice at t, or none if the value is nil, after it has
// removed every checkpoint from t on. The old bytes are unlinked when it returns.
// Killed in between, the column is trained again on the old slice until the new one
// is delivered again.
func (c *column) replace(t lethe.Timestep, link sliceLink, value, offset []byte) error {
	trained := c.trained
	if err := c.removeCheckpoints(t); err != nil {
		return err
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
	delete(c.recent, t)
	if c.links[t] = link; value == nil {
		delete(c.links, t)
		c.timesteps = slices.DeleteFunc(c.timesteps, func(at lethe.Timestep) bool { return at == t })
	}
	c.replayThrough = max(c.replayThrough, trained)
	return nil
}

// removeCheckpoints unlinks the checkpoints from t on.
func (c *column) removeCheckpoints(t lethe.Timestep) error {
	first, _ := slices.BinarySearch(c.checkpoints, t)
	kept, gone := c.checkpoints[:first], c.checkpoints[first:]
	if len(gone) == 0 {
		return nil
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		for _, at := range gone {
			if err := w.Delete(timestepkey.New(checkpointPrefix, at)); err != nil {
				return err
			}
			if err := w.Delete(timestepkey.New(unsentPrefix, at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.unsent = slices.DeleteFunc(c.unsent, func(at lethe.Timestep) bool { return at >= t })
	return c.standAt(kept)
}

// standAt takes the column back to the last of some checkpoints.
func (c *column) standAt(checkpoints []lethe.Timestep) (err error) {
	c.checkpoints, c.trained, c.newest = checkpoints, lethe.NoTimestep, nil
	if n := len(checkpoints); n > 0 {
		c.trained = checkpoints[n-1]
		c.newest, err = c.checkpoint(c.trained)
	}
	return err
}

// remove takes the slice of a timestep that is gone out of the store, as replace
// does. Its model has to be deleted from its topic. If it was the newest, the model
// before it is published again, for it is the newest now.
func (c *column) remove(t lethe.Timestep, offset []byte) error {
	at, found := slices.BinarySearch(c.timesteps, t)
	restate := found && at > 0 && at == len(c.timesteps)-1 && c.timesteps[at-1] <= c.trained
	err := c.store.Apply(func(w swapstore.Writer) error {
		if restate {
			if err := w.Set(timestepkey.New(unsentPrefix, c.timesteps[at-1]), nil); err != nil {
				return err
			}
		}
		if !found {
			if err := w.Set([]byte(offsetKey), offset); err != nil {
				return err
			}
		}
		return w.Set(timestepkey.New(withdrawnPrefix, t), nil)
	})
	if err != nil {
		return err
	}
	if restate {
		c.unsent = sortedset.Add(c.unsent, c.timesteps[at-1])
	}
	c.withdrawn = sortedset.Add(c.withdrawn, t)
	if !found {
		return nil
	}
	return c.replace(t, sliceLink{}, nil, offset)
}

// forget removes every checkpoint, so that the shard is trained again from its
// first slice.
func (c *column) forget() error {
	if len(c.checkpoints) == 0 {
		return nil
	}
	if err := c.removeCheckpoints(c.checkpoints[0]); err != nil {
		return fmt.Errorf("shard %d: forget checkpoints: %w", c.shard, err)
	}
	return nil
}
