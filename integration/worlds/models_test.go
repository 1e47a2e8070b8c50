package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/train"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// models compares the models with those that the slices give from fresh weights, the
// ensemble that is served with theirs, and what was predicted with what they answer.
func (c *comparison) models(ctx context.Context, w world, got, want *state) {
	m, err := modelsOf(w.components)
	if err != nil {
		*c = append(*c, err.Error())
		return
	}
	runner, err := m.runner()
	if err != nil {
		*c = append(*c, err.Error())
		return
	}
	r := retraining{m, runner, got, slices.Sorted(maps.Keys(got.manifests))}
	ensembles, err := r.ensembles(ctx, c)
	if err != nil {
		*c = append(*c, err.Error())
	}
	if len(got.manifests) == 0 || len(*c) > 0 {
		return
	}
	newest := ensembles[r.timesteps[len(r.timesteps)-1]]
	if got.status.Ensemble == nil || newest == nil {
		*c = append(*c, "no ensemble is served")
		return
	}
	c.equal("ensemble", got.status.Ensemble.Version, newest.Version)
	o := oracle{w: w, got: got, want: want, models: m, runner: runner, ensembles: ensembles}
	if err := o.predicted(ctx, c); err != nil {
		*c = append(*c, err.Error())
	}
}

// retraining makes all models anew of the slices that are left.
type retraining struct {
	models
	runner ensemble.Runner
	got    *state
	// timesteps are the settled ones, ascending.
	timesteps []lethe.Timestep
}

// ensembles compares the models and returns the ensemble after every timestep.
func (r retraining) ensembles(ctx context.Context, c *comparison) (map[lethe.Timestep]*ensemble.Ensemble, error) {
	after := make(map[lethe.Timestep][]*trainer.Checkpoint)
	for number := range lethe.ShardID(r.layout.Models()) {
		column, err := r.column(number)
		if err != nil {
			return nil, err
		}
		for step, err := range r.runner.Column(number).Replay(ctx, nil, column) {
			if err != nil {
				return nil, err
			}
			t := step.Checkpoint.Timestep
			after[t] = append(after[t], step.Checkpoint)
			// What a trainer has adopted begins where models.v1 does.
			anew := r.layout.Config(number).Schedule == trainer.Window || len(r.got.stored) > 1
			if err := r.found(c, "published", r.got.models, step.Checkpoint, place{t, number}, r.isKept(t, true)); err != nil {
				return nil, err
			}
			for i, stored := range r.got.stored {
				what := fmt.Sprintf("stored by trainer %d", i+1)
				if err := r.found(c, what, stored, step.Checkpoint, place{t, number}, r.isKept(t, anew)); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, models := range append(r.got.stored, r.got.models) {
		for at := range models {
			c.equal(fmt.Sprintf("model %d after %d is one of a settled timestep", at.shard, at.timestep),
				slices.Contains(r.timesteps, at.timestep) && int(at.shard) < r.layout.Models(), true)
		}
	}
	if r.over != nil {
		return r.combined(ctx, c, after)
	}
	out := make(map[lethe.Timestep]*ensemble.Ensemble)
	for t, models := range after {
		var err error
		if out[t], err = ensemble.Of(models, nil); err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// found compares a model that is published or stored with the one that the slices give. It
// may be absent unless it is needed.
func (r retraining) found(
	c *comparison, where string, models map[place]*trainer.Checkpoint, want *trainer.Checkpoint, at place, needed bool,
) error {
	what := fmt.Sprintf("%s model %d after %d", where, at.shard, at.timestep)
	if have := models[at]; have != nil {
		c.equal(what, trainer.DigestCheckpoint(have), trainer.DigestCheckpoint(want))
	} else if needed {
		return fmt.Errorf("no %s", what)
	}
	return nil
}

// isKept reports whether a checkpoint after a timestep must be there. Of those that are
// fitted anew for every timestep, and of those that are published, only the newest is
// needed in the end; of others the milestones, too.
func (r retraining) isKept(t lethe.Timestep, anew bool) bool {
	return t == r.timesteps[len(r.timesteps)-1] || !anew && train.Milestone(r.timesteps, t)
}

// column is what a model learns from, by timestep.
func (r retraining) column(number lethe.ShardID) ([]*lethe.Slice, error) {
	var out []*lethe.Slice
	for _, t := range r.timesteps {
		var parts []*lethe.Slice
		for _, shard := range r.layout.ShardsOf(number) {
			parts = append(parts, r.got.slices[place{t, shard}])
		}
		s, err := r.layout.Slice(number, parts)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// combined compares the meta-models and returns the ensembles that have them.
func (r retraining) combined(
	ctx context.Context, c *comparison, after map[lethe.Timestep][]*trainer.Checkpoint,
) (map[lethe.Timestep]*ensemble.Ensemble, error) {
	lineages, previous := ensemble.NewLineages(r.layout, r.over), lethe.NoTimestep
	var window [][]*lethe.Slice
	out := make(map[lethe.Timestep]*ensemble.Ensemble)
	for _, t := range r.timesteps {
		row, digests := make([]*lethe.Slice, shards), make([]lethe.Digest, shards)
		for shard := range row {
			row[shard] = r.got.slices[place{t, lethe.ShardID(shard)}]
			digests[shard] = canonical.DigestSlice(row[shard])
		}
		lineages.Learn(t, previous, digests)
		previous, window = t, append(window, row)
		sources := ensemble.Window(window[max(0, len(window)-r.over.Timesteps):])
		learnt, err := r.runner.Learn(ctx, *r.over, after[t], sources, new(ensemble.Known))
		if err != nil {
			return nil, err
		}
		all, known := lineages.At(t)
		c.equal(fmt.Sprintf("lineages after %d are known", t), known, true)
		learnt.Lineage = all[r.layout.Models()]
		what := fmt.Sprintf("meta-model after %d", t)
		if have := r.got.metas[t]; have != nil {
			c.equal(what, canonical.DigestOf(have.Encode()), canonical.DigestOf(learnt.Encode()))
		} else if r.isKept(t, true) {
			return nil, fmt.Errorf("no %s", what)
		}
		if out[t], err = ensemble.Of(after[t], learnt); err != nil {
			return nil, err
		}
	}
	for t := range r.got.metas {
		c.equal(fmt.Sprintf("the meta-model after %d is one of a settled timestep", t), slices.Contains(r.timesteps, t), true)
	}
	return out, nil
}
