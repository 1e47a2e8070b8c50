package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// model is one model of the ensemble through time. Its series is in the store of the
// first shard that it learns from. One goroutine uses it at a time; several models may
// be trained side by side.
type model struct {
	*series
	config trainer.Config
	shards shards
	layout ensemble.Layout
	cache  *unions
	// trained is the decoded checkpoint at newest, or nil.
	trained *trainer.Checkpoint
	// replayThrough is the newest timestep that was trained before a slice was
	// replaced: up to it, training unlearns.
	replayThrough lethe.Timestep
}

// fitsAnew reports whether every checkpoint is made of fresh weights and a window of
// slices. Then only those that a score waits for are made, and kept.
func (m *model) fitsAnew() bool { return m.config.Schedule == trainer.Window }

// stand decodes the newest checkpoint.
func (m *model) stand() error {
	m.trained = nil
	if m.newest() == lethe.NoTimestep {
		return nil
	}
	value, err := m.value(m.newest())
	if err == nil {
		m.trained, err = trainer.DecodeCheckpoint(value)
	}
	return err
}

// unlearn implements learner.
func (m *model) unlearn(from lethe.Timestep) error {
	m.cache.drop(m, from)
	m.replayThrough = max(m.replayThrough, m.newest())
	before := m.newest()
	// Also where nothing is stored from there on: what was thinned out counts as said no longer.
	if err := m.removeFrom(from); err != nil || m.newest() == before {
		return err
	}
	return m.stand()
}

// forget removes every checkpoint, so that the model is trained again.
func (m *model) forget() error {
	if err := m.removeFrom(0); err != nil {
		return fmt.Errorf("model %d: forget checkpoints: %w", m.number, err)
	}
	return m.stand()
}

// next returns the timestep to train next once the model was trained through one, or
// NoTimestep. Of a model that is fitted anew nobody needs an older checkpoint than those that a
// score may wait for.
func (m *model) next(trained lethe.Timestep) lethe.Timestep {
	if !m.fitsAnew() {
		if t := m.shards.after(trained); t != lethe.NoTimestep && m.shards.previous(t) == trained {
			return t
		}
		return lethe.NoTimestep
	}
	for t := m.from(m.shards); t != lethe.NoTimestep; t = m.shards.after(t) {
		switch {
		case m.holds(t):
		case m.shards.complete(t, m.config.WindowTimesteps):
			return t
		default:
			// A slice that was replaced stands later in the topic than its successors, so a
			// column that is rebuilt waits for it.
			return lethe.NoTimestep
		}
	}
	return lethe.NoTimestep
}

// thinOut unlinks the checkpoints that no score waits for, but for milestones. If a score waits for one that was
// thinned out, because it has begun anew or a newer timestep is gone, all from there on are made again.
func (m *model) thinOut() error {
	first, _ := slices.BinarySearch(m.said, m.needed)
	lacks := func(t lethe.Timestep) bool { return !m.holds(t) }
	if at := slices.IndexFunc(m.said[first:], lacks); at >= 0 {
		return m.unlearn(m.said[first+at])
	}
	return m.thin()
}

// wants reports whether a checkpoint is to be stored. One that was made before and thinned out is only a way to those
// behind it: it has the same bytes, for it would have been unlearnt otherwise. The last one is stored in any case: it
// would be trained again and again while a score waits for a timestep that this model has no slices of.
func (m *model) wants(t lethe.Timestep) bool {
	_, said := slices.BinarySearch(m.said, t)
	return t >= m.needed || !said || m.shards.milestone(t) || m.next(t) == lethe.NoTimestep
}

// window returns the slices that the checkpoint after t is trained on, ascending.
func (m *model) window(t lethe.Timestep) ([]*lethe.Slice, error) {
	window := m.shards.window(t, m.config.WindowTimesteps)
	if len(window) == 0 {
		return nil, fmt.Errorf("no slice of timestep %d", t)
	}
	out := make([]*lethe.Slice, len(window))
	for i, at := range window {
		var err error
		if out[i], err = m.cache.slice(m, at); err != nil {
			return nil, err
		}
	}
	m.cache.trim(m, window[0])
	return out, nil
}
