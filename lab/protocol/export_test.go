package protocol

import (
	"context"
	"errors"

	"lethe/dataset"
)

// LastAnswers goes through a stream and returns what every reading says of its
// last timestep, and which of its labels had arrived.
func LastAnswers(ctx context.Context, stream *dataset.Stream, s StreamSettings, r Runtime) (
	answers [][]float32, arrived []bool, err error,
) {
	j, err := newStreamRun(stream, s, r)
	if err != nil {
		return nil, nil, err
	}
	if err := j.run(ctx); err != nil {
		return nil, nil, err
	}
	last := len(j.steps) - 1
	arrived = j.s.arrived(j.steps[last])
	_, answers, err = j.answer(ctx, last, arrived)
	return answers, arrived, err
}

// Unseen is what propagation begins with under the mean: posteriors of every node, those
// of training nodes by models that never saw their label.
func Unseen(ctx context.Context, g *Graph, s Settings, r Runtime) ([]float32, error) {
	t, err := newGraphRun(g, s, r)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	if err := errors.Join(t.cut(ctx, out), t.train(ctx, out)); err != nil {
		return nil, err
	}
	answers, err := t.models.ask(ctx, t.full)
	if err != nil {
		return nil, err
	}
	by, err := t.combiner(ctx, AggregateMean)
	if err != nil {
		return nil, err
	}
	return t.unseen(ctx, answers.Shards, by)
}
