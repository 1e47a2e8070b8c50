package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// models compares the models with those that the slices give from fresh weights, the
// ensemble that is served with theirs, and what was predicted with what they answer.
func (c *comparison) models(ctx context.Context, w world, got, want *state) {
	engine, err := trainer.NewEngine(smallModel(), kernels.Default())
	if err != nil {
		*c = append(*c, err.Error())
		return
	}
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: 1, Describe: scoring.Describe}
	ensembles, err := c.trained(ctx, runner, got)
	if err != nil {
		*c = append(*c, err.Error())
	}
	if len(got.manifests) == 0 || len(*c) > 0 {
		return
	}
	newest := ensembles[slices.Max(slices.Collect(maps.Keys(got.manifests)))]
	if got.status.Ensemble == nil || newest == nil {
		*c = append(*c, "no ensemble is served")
		return
	}
	c.equal("ensemble", got.status.Ensemble.Version, newest.Version)
	o := oracle{w: w, got: got, want: want, runner: runner, ensembles: ensembles}
	if err := o.predicted(ctx, c); err != nil {
		*c = append(*c, err.Error())
	}
}

// trained compares the models and returns the ensemble after every timestep.
func (c *comparison) trained(
	ctx context.Context, r ensemble.Runner, got *state,
) (map[lethe.Timestep]*ensemble.Ensemble, error) {
	timesteps := slices.Sorted(maps.Keys(got.manifests))
	after := make(map[lethe.Timestep][]*trainer.Checkpoint)
	for shard := range lethe.ShardID(shards) {
		var column []*lethe.Slice
		for _, t := range timesteps {
			column = append(column, got.slices[place{t, shard}])
		}
		for step, err := range r.Column(shard).Replay(ctx, nil, column) {
			if err != nil {
				return nil, err
			}
			t := step.Checkpoint.Timestep
			have := got.models[place{t, shard}]
			if have == nil {
				return nil, fmt.Errorf("no model of shard %d after %d", shard, t)
			}
			c.equal(fmt.Sprintf("model of shard %d after %d", shard, t),
				trainer.DigestCheckpoint(have), trainer.DigestCheckpoint(step.Checkpoint))
			after[t] = append(after[t], step.Checkpoint)
		}
	}
	out := make(map[lethe.Timestep]*ensemble.Ensemble)
	for t, models := range after {
		e, err := ensemble.Of(models, nil)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		out[t] = e
	}
	return out, nil
}
