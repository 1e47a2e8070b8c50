package train

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// model is a model through time, in the store of its first shard. One goroutine uses it at a time.
type model struct {
	*series
	config trainer.Config
	shards shards
	layout ensemble.Layout
	cache  *unions
	// trained is the newest checkpoint decoded, or nil.
	trained *trainer.Checkpoint
	// replayThrough is the newest timestep trained before a replacement.
	replayThrough lethe.Timestep
}

// fitsAnew reports whether every checkpoint starts from fresh weights. Then only those that a score waits for are
// made and kept.
func (m *model) fitsAnew() bool { return m.config.Schedule == trainer.Window }

// load decodes the newest checkpoint.
func (m *model) load() error {
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
	// Also without stored ones: thinned ones lose their mark.
	if err := m.removeFrom(from); err != nil || m.newest() == before {
		return err
	}
	return m.load()
}

func (m *model) forget() error {
	if err := m.removeFrom(0); err != nil {
		return fmt.Errorf("model %d: forget checkpoints: %w", m.number, err)
	}
	return m.load()
}

// next returns the timestep to train after one, or NoTimestep. A model fitted from scratch skips those no score
// waits for.
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
			// A replaced slice is behind its successors in the topic; a rebuilt column waits for it.
			return lethe.NoTimestep
		}
	}
	return lethe.NoTimestep
}

// thinOut unlinks the checkpoints that no score waits for, except milestones, once they are deleted from their topic
// and their digest is published. They can be remade from slices: if a score waits for one again, all from there on are.
// The newest stays, to continue from.
func (m *model) thinOut(published map[lethe.Timestep]entry) error {
	first, _ := slices.BinarySearch(m.committed, m.needed)
	lacks := func(t lethe.Timestep) bool { return !m.holds(t) }
	if at := slices.IndexFunc(m.committed[first:], lacks); at >= 0 {
		return m.unlearn(m.committed[first+at])
	}
	var gone []lethe.Timestep
	for _, t := range m.kept {
		_, published := published[t]
		_, committed := slices.BinarySearch(m.committed, t)
		if t < min(m.needed, m.newest()) && !published && committed && !m.shards.milestone(t) {
			gone = append(gone, t)
		}
	}
	return m.remove(gone)
}

// wants reports whether to store a checkpoint. A thinned one is only a step to the next, with the same bytes. The
// last is always stored, or it would be trained again and again while a score waits for a timestep without slices.
func (m *model) wants(t lethe.Timestep) bool {
	_, committed := slices.BinarySearch(m.committed, t)
	return t >= m.needed || !committed || m.shards.milestone(t) || m.next(t) == lethe.NoTimestep
}

// window returns the slices for the checkpoint after t, ascending.
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

// overModels is the meta-model through time, in the store of shard 0. It is made only for timesteps that a score
// waits for.
type overModels struct {
	*series
	config meta.Config
	shards shards
	models []*model
	// known caches models' answers on unchanged slices.
	known *ensemble.Known
}

// unlearn implements learner.
func (o *overModels) unlearn(from lethe.Timestep) error { return o.removeFrom(from) }

// next returns the oldest timestep that needs a meta-model and has its inputs, or NoTimestep.
func (o *overModels) next() lethe.Timestep {
	for t := o.from(o.shards); t != lethe.NoTimestep; t = o.shards.after(t) {
		if o.holds(t) {
			continue
		}
		without := func(m *model) bool { return !m.holds(t) }
		if slices.ContainsFunc(o.models, without) || !o.shards.complete(t, o.config.Timesteps) {
			return lethe.NoTimestep
		}
		return t
	}
	return lethe.NoTimestep
}

func (o *overModels) learn(ctx context.Context, runner ensemble.Runner, t lethe.Timestep) (learnt, error) {
	models := make([]*trainer.Checkpoint, len(o.models))
	lineages := make([]lethe.Digest, len(models))
	for i, m := range o.models {
		value, err := m.value(t)
		if err != nil {
			return learnt{}, err
		}
		if models[i], err = trainer.DecodeCheckpoint(value); err != nil {
			return learnt{}, fmt.Errorf("model %d: checkpoint after timestep %d: %w", m.number, t, err)
		}
		lineages[i] = models[i].Lineage
	}
	sources, digests, err := o.window(t)
	if err != nil {
		return learnt{}, err
	}
	m, err := runner.Learn(ctx, o.config, models, sources, o.known)
	if err != nil {
		return learnt{}, fmt.Errorf("meta-model after timestep %d: %w", t, err)
	}
	m.Lineage = meta.Lineage(o.config, lineages, digests)
	return learnt{t, m.Encode(), m.Lineage}, nil
}

// window returns the slices for the meta-model after t, oldest first, and their digests by timestep.
func (o *overModels) window(t lethe.Timestep) (all []ensemble.Source, digests [][]lethe.Digest, err error) {
	end, _ := slices.BinarySearch(o.shards[0].timesteps, t)
	window := o.shards[0].timesteps[:end+1]
	for _, at := range window[max(0, len(window)-o.config.Timesteps):] {
		named := make([]lethe.Digest, len(o.shards))
		for i, c := range o.shards {
			if named[i], err = c.digest(at); err != nil {
				return nil, nil, err
			}
			all = append(all, ensemble.Source{
				Shard: c.shard, Digest: named[i], Read: func() (*lethe.Slice, error) { return c.slice(at) },
			})
		}
		digests = append(digests, named)
	}
	return all, digests, nil
}
