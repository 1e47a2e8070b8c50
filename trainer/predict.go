package trainer

import (
	"context"
	"fmt"
	"math"

	"lethe/trainer/layers"
)

// Probabilities returns the probability of every class for every node of a graph, rows × classes,
// row-major: the model in evaluation mode, with the batch norms' running statistics and without
// dropout. It accepts checkpoints of any options and kernel set, because it only reads the
// weights.
//
// Errors wrap ErrIncompatible, ErrInvalidSlice, ErrNotFinite (a probability is NaN because a
// feature or weight was infinite) or the context's error.
func (e *Engine) Probabilities(ctx context.Context, c *Checkpoint, in Input) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fail := func(err error) error {
		return fmt.Errorf("predict with shard %d timestep %d: %w", c.Shard, c.Timestep, err)
	}
	if keepsBody(c.Model) {
		out, err := e.bodyProbabilities(ctx, c, in)
		if err != nil {
			return nil, fail(err)
		}
		return out, nil
	}
	if err := e.idle.check(c); err != nil {
		return nil, fail(fmt.Errorf("%w: %w", ErrIncompatible, err))
	}
	if err := in.check(c.Architecture.Features); err != nil {
		return nil, fail(err)
	}
	if in.Rows == 0 {
		return nil, nil
	}
	laid := in.layout(c.Architecture, &e.idle)
	p, err := e.idle.take(programShape{
		architecture: c.Architecture, form: laid.form, capacity: capacityFor(in.Rows),
	})
	if err != nil {
		return nil, fail(err)
	}
	defer e.idle.give(p)
	copy(p.Params.Values, c.Params)
	copy(p.Buffers.Values, c.Buffers)
	p.Load(laid.batch)
	if err := p.run(); err != nil {
		return nil, fail(err)
	}
	out, err := softmaxRows(layers.Result(p.Logits)[:in.Rows*c.Architecture.Classes], c.Architecture.Classes)
	if err != nil {
		return nil, fail(err)
	}
	return out, nil
}

// softmaxRows converts every row of logits into probabilities.
func softmaxRows(logits []float32, classes int) ([]float32, error) {
	out := make([]float32, len(logits))
	p := make([]float64, classes)
	for from := 0; from < len(logits); from += classes {
		layers.Softmax(p, logits[from:from+classes])
		for c, v := range p {
			if math.IsNaN(v) {
				return nil, fmt.Errorf("probability of row %d: %w", from/classes, ErrNotFinite)
			}
			out[from+c] = float32(v)
		}
	}
	return out, nil
}
