package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/trainer"
	schedule "lethe/trainer/column"
)

// windowAt returns the slices that the checkpoint after t is trained on, ascending.
func (c *column) windowAt(config trainer.Config, t lethe.Timestep) ([]*lethe.Slice, error) {
	end, found := slices.BinarySearch(c.timesteps, t)
	if !found {
		return nil, fmt.Errorf("no slice of timestep %d", t)
	}
	window := schedule.Window(config, c.timesteps[:end+1])
	out := make([]*lethe.Slice, 0, len(window))
	for _, at := range window {
		s, err := c.slice(at)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for at := range c.recent {
		if at < window[0] {
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

// trained is a checkpoint after a timestep.
type trained struct {
	at         lethe.Timestep
	checkpoint *trainer.Checkpoint
}

// trainedThrough stores checkpoints that were trained, ascending, and have to be
// published.
func (c *column) trainedThrough(steps ...trained) error {
	// The marks first: a checkpoint without one would never be published, while a mark
	// without its checkpoint is passed over.
	err := c.store.Apply(func(w swapstore.Writer) error {
		for _, s := range steps {
			if err := w.Set(timestepkey.New(unsentPrefix, s.at), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.store.Apply(func(w swapstore.Writer) error {
		for _, s := range steps {
			err := w.Set(timestepkey.New(checkpointPrefix, s.at), trainer.EncodeCheckpoint(s.checkpoint))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range steps {
		c.checkpoints, c.trained, c.newest = append(c.checkpoints, s.at), s.at, s.checkpoint
		c.unsent = sortedset.Add(c.unsent, s.at)
	}
	return nil
}

// unpublished reports whether the column has something to publish.
func (c *column) unpublished() bool { return len(c.unsent)+len(c.withdrawn) > 0 }

// publishedTogether bounds how much of a column is in memory to be published.
const publishedTogether = 16

// due is what the column has to publish next: that models are gone, or the oldest
// checkpoints that were not published.
func (c *column) due() ([]wire.Message, error) {
	var out []wire.Message
	key := func(t lethe.Timestep) wire.Key { return wire.Key{Kind: wire.KindModel, Shard: c.shard, Timestep: t} }
	for _, t := range c.withdrawn {
		out = append(out, wire.Message{Key: key(t), Deleted: true})
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, t := range c.unsent[:min(len(c.unsent), publishedTogether)] {
		value, found, err := c.store.Get(timestepkey.New(checkpointPrefix, t))
		if err == nil && !found {
			err = errMissing
		}
		if err != nil {
			return nil, fmt.Errorf("shard %d: checkpoint after timestep %d: %w", c.shard, t, err)
		}
		out = append(out, wire.Message{
			Key:      key(t),
			Revision: c.links[t].revision, Last: t == c.timesteps[len(c.timesteps)-1], Payload: value,
		})
	}
	return out, nil
}

// sent notes that what due returned was published.
func (c *column) sent() error {
	prefix, list := unsentPrefix, &c.unsent
	n := min(len(c.unsent), publishedTogether)
	if len(c.withdrawn) > 0 {
		prefix, list, n = withdrawnPrefix, &c.withdrawn, len(c.withdrawn)
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		for _, t := range (*list)[:n] {
			if err := w.Delete(timestepkey.New(prefix, t)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("shard %d: note what was published from timestep %d on: %w", c.shard, (*list)[0], err)
	}
	*list = (*list)[n:]
	return nil
}
