package main

import (
	"context"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// guesses returns a copy of a slice in which the unknown labels are those that a model
// is sure of: illicit from the probability sure on, licit up to 1 − sure, and of both a
// share. A slice in which it is sure of none is returned as it is.
func (e *extras) guesses(s *lethe.Slice, illicit []float64) *lethe.Slice {
	draws := lethe.NewDraw(e.seed, "stack/guesses", uint64(s.Timestep))
	labels := append([]lethe.Label(nil), s.Labels...)
	changed := false
	for i, p := range illicit {
		hi, lo := s.Nodes[i].Coordinates()
		draw := draws.At(hi).At(lo)
		switch {
		case labels[i] != lethe.Unknown || draw.Float64() >= e.share:
		case p >= e.sure:
			labels[i], changed = lethe.Illicit, true
		case p <= 1-e.sure:
			labels[i], changed = lethe.Licit, true
		}
	}
	if !changed {
		return s
	}
	out := *s
	// A union is named by its parts, which are not what it is made of any more.
	out.Labels, out.Parts = labels, nil
	return &out
}

// guessed asks the model that a group has learnt from the labels of its slices about
// their other nodes (self-training), and returns the slices with its guesses. They are a function of
// the group's slices as the model is.
func (t *trained) guessed(ctx context.Context, model *trainer.Checkpoint, window []*lethe.Slice) ([]*lethe.Slice,
	error,
) {
	out := make([]*lethe.Slice, len(window))
	for i, s := range window {
		posteriors, err := t.runner.Engine(0).Probabilities(ctx, model, trainer.InputOfSlice(s))
		if err != nil {
			return nil, err
		}
		out[i] = t.extras.guesses(s, ensemble.Illicit(posteriors))
	}
	return out, nil
}

// fit makes a group's next model from its slices, and as often as self-training has
// rounds one more, from the same state, which learns from the guesses of the one before
// too.
func (t *trained) fit(ctx context.Context, g int, window []*lethe.Slice) (*trainer.Checkpoint, error) {
	column := t.runner.Column(lethe.ShardID(t.first + g))
	made, err := column.Advance(ctx, t.models[g], window)
	for range t.extras.rounds {
		if err != nil {
			break
		}
		var with []*lethe.Slice
		if with, err = t.guessed(ctx, made.Checkpoint, window); err == nil {
			made, err = column.Advance(ctx, t.models[g], with)
		}
	}
	return made.Checkpoint, err
}
