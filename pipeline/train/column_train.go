package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

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
	value, found, err := c.store.Get(timestepkey.New(slicePrefix, t))
	if err != nil {
		return nil, fmt.Errorf("slice of timestep %d: %w", t, err)
	}
	if !found {
		return nil, fmt.Errorf("slice of timestep %d: %w", t, errMissing)
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

// trainedThrough stores a checkpoint that was trained and has to be published.
func (c *column) trainedThrough(t lethe.Timestep, checkpoint *trainer.Checkpoint) error {
	err := c.store.Apply(func(w swapstore.Writer) error {
		if err := w.Set(timestepkey.New(checkpointPrefix, t), trainer.EncodeCheckpoint(checkpoint)); err != nil {
			return err
		}
		return w.Set(timestepkey.New(unsentPrefix, t), nil)
	})
	if err != nil {
		return err
	}
	c.trained, c.newest = t, checkpoint
	c.unsent = append(c.unsent, t)
	return nil
}

// message is the checkpoint after a timestep as it travels.
func (c *column) message(t lethe.Timestep) (wire.Message, error) {
	value, found, err := c.store.Get(timestepkey.New(checkpointPrefix, t))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return wire.Message{}, fmt.Errorf("shard %d: checkpoint after timestep %d: %w", c.shard, t, err)
	}
	key := wire.Key{Kind: wire.KindModel, Shard: c.shard, Timestep: t}
	return wire.Message{Key: key, Revision: c.links[t].revision, Payload: value}, nil
}

// sent notes that the oldest unpublished checkpoint was published.
func (c *column) sent() error {
	t := c.unsent[0]
	err := c.store.Apply(func(w swapstore.Writer) error { return w.Delete(timestepkey.New(unsentPrefix, t)) })
	if err != nil {
		return fmt.Errorf("shard %d: note what was published after timestep %d: %w", c.shard, t, err)
	}
	c.unsent = c.unsent[1:]
	return nil
}
