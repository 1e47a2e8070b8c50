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
