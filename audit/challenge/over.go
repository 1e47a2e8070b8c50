package challenge

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// WithMeta adds the newest meta-model to the steps. The error gives the reason why it cannot be
// relearned.
func (v *View) WithMeta(s Steps, setup ensemble.Setup) (Steps, error) {
	switch timesteps := v.timesteps(); {
	case setup.Meta == nil:
		return s, errors.New("the deployment has no meta-model")
	case len(timesteps) == 0:
		return s, errors.New("the log commits to no slice that a meta-model could learn from")
	default:
		s.over = timesteps[max(0, len(timesteps)-setup.Meta.Timesteps):]
		newest := s.over[len(s.over)-1]
		if v.Model(len(setup.Components), 0, newest).IsZero() {
			return s, fmt.Errorf("the log commits to no meta-model after timestep %d: training has not come so far, or the "+
				"deployment left it out", newest)
		}
		for model := range lethe.ShardID(setup.Models()) {
			if component, group := setup.Place(model); v.Model(component, group, newest).IsZero() {
				return s, fmt.Errorf("the log commits to no model of %s after timestep %d", s.named(model), newest)
			}
		}
		return s, nil
	}
}

// learnAnew relearns the newest meta-model over the models that the log commits to, and compares
// it.
func (r *Report) learnAnew(
	ctx context.Context, runner ensemble.Runner, v *View, setup ensemble.Setup, steps Steps, h held,
) error {
	if len(steps.over) == 0 {
		return nil
	}
	newest := steps.over[len(steps.over)-1]
	made, err := h.learn(ctx, runner, setup, steps.over)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.problem("the meta-model after timestep %d cannot be learnt anew: %v", newest, err)
		return nil
	}
	if made.Lineage, err = v.metaLineage(setup, newest); err != nil {
		r.problem("the meta-model after timestep %d: %v", newest, err)
		return nil
	}
	r.Models++
	if canonical.DigestOf(made.Encode()) != v.Model(len(setup.Components), 0, newest) {
		r.problem("the meta-model after timestep %d: learning it anew gives other bytes than the log commits to", newest)
	}
	return nil
}

// learn learns the meta-model after the last timestep of a window.
func (h held) learn(
	ctx context.Context, runner ensemble.Runner, setup ensemble.Setup, window []lethe.Timestep,
) (*meta.Model, error) {
	models := make([]*trainer.Checkpoint, setup.Models())
	for number := range models {
		var err error
		models[number], err = trainer.DecodeCheckpoint(h.models[Pair{lethe.ShardID(number), window[len(window)-1]}])
		if err != nil {
			return nil, err
		}
	}
	all := make([][]*lethe.Slice, len(window))
	for i, t := range window {
		for shard := range lethe.ShardID(setup.Shards) {
			all[i] = append(all[i], h.slices[Pair{shard, t}])
		}
	}
	return runner.Learn(ctx, *setup.Meta, models, ensemble.Window(all), new(ensemble.Known))
}

// metaLineage is the lineage of a meta-model, by the slices that the log commits to.
func (v *View) metaLineage(setup ensemble.Setup, newest lethe.Timestep) (lethe.Digest, error) {
	known := ensemble.NewLineages(setup.Layout, setup.Meta)
	previous := lethe.NoTimestep
	for _, t := range v.timesteps() {
		digests := make([]lethe.Digest, setup.Shards)
		for shard := range digests {
			digests[shard] = v.Slice(Pair{lethe.ShardID(shard), t})
		}
		known.Learn(t, previous, digests)
		previous = t
	}
	lineages, found := known.At(newest)
	if !found {
		return lethe.Digest{}, errors.New("the log lacks slices before it")
	}
	return lineages[len(lineages)-1], nil
}
