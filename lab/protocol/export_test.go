package protocol

import (
	"context"

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
