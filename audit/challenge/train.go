package challenge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// trainAnew retrains the models of the steps and compares them with the digests of the log. Models
// are trained in parallel, the steps of one model one after the other.
func (r *Report) trainAnew(
	ctx context.Context, runner ensemble.Runner, v *View, steps Steps, h held, progress func(done, of int),
) error {
	var mu sync.Mutex
	problems := make([]string, len(steps.list))
	err := runner.Each(ctx, len(steps.list), func(ctx context.Context, i int) error {
		st := steps.list[i]
		made, err := h.train(ctx, runner, steps.layout, st)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		r.Models++
		component, group := steps.layout.Place(st.model)
		switch {
		case err != nil:
			problems[i] = fmt.Sprintf("%s after timestep %d cannot be trained anew: %v", steps.named(st.model), st.at, err)
		case canonical.DigestOf(made) != v.Model(component, group, st.at):
			problems[i] = fmt.Sprintf("%s after timestep %d: training it anew gives other bytes than the log commits to%s",
				steps.named(st.model), st.at, v.late(steps.layout, st))
		}
		if progress != nil {
			progress(r.Models, len(steps.list))
		}
		return nil
	})
	for _, problem := range problems {
		if problem != "" {
			r.problem("%s", problem)
		}
	}
	return err
}

// train returns the bytes of a step's model.
func (h held) train(ctx context.Context, runner ensemble.Runner, layout ensemble.Layout, st step) ([]byte, error) {
	var previous *trainer.Checkpoint
	if st.previous != lethe.NoTimestep {
		var err error
		if previous, err = trainer.DecodeCheckpoint(h.models[Pair{st.model, st.previous}]); err != nil {
			return nil, err
		}
		if previous.Shard != st.model || previous.Timestep != st.previous {
			return nil, errors.New("the model before is another one than the log says")
		}
	}
	window := make([]*lethe.Slice, len(st.window))
	before := st.before
	for i, t := range st.window {
		var parts []*lethe.Slice
		for _, shard := range layout.ShardsOf(st.model) {
			parts = append(parts, h.slices[Pair{shard, t}])
		}
		var err error
		if window[i], err = layout.Slice(st.model, parts); err != nil {
			return nil, err
		}
		if window[i].Previous != before {
			return nil, fmt.Errorf("the slice of timestep %d says that it follows timestep %d, in the log it follows %d", t,
				window[i].Previous, before)
		}
		before = t
	}
	made, err := runner.Column(st.model).Advance(ctx, previous, window)
	if err != nil {
		return nil, err
	}
	return trainer.EncodeCheckpoint(made.Checkpoint), nil
}

// late returns a remark if a slice was replaced after the model was committed to.
func (v *View) late(layout ensemble.Layout, st step) string {
	component, group := layout.Place(st.model)
	made := v.models[modelAt{component, group, st.at}].leaf
	for _, shard := range layout.ShardsOf(st.model) {
		for _, t := range st.window {
			if at := v.slices[Pair{shard, t}].leaf; at > made {
				return fmt.Sprintf(" (leaf %d; leaf %d replaces a slice that it learnt from, and nothing later says that it was "+
					"trained again)", made, at)
			}
		}
	}
	return ""
}
