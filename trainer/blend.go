package trainer

import (
	"context"
	"fmt"

	"lethe"
	"lethe/internal/portable"
)

// Blend combines several models per shard. Each is trained as it would be alone. A shard weighs
// each by its losses so far: before training on a slice, every model scores it, and the model's
// log-losses on the shard's own labels are accumulated. Probabilities are combined as weighted
// means of their logarithms, with weights proportional to e^(-rate · loss) (exponential weights:
// Vovk, "Aggregating Strategies", COLT 1990).
//
// Losses are part of the checkpoint and depend only on the shard's slices. Each is computed by
// models not yet trained on the slice, so a blend is replayed after an erasure like any other
// model.
const Blend = "blend"

// MaxComponents bounds the number of models of a blend.
const MaxComponents = 8

// fitBlend scores the newest slice with the components and then trains them.
func (e *Engine) fitBlend(ctx context.Context, next *Checkpoint, window []*lethe.Slice) (Report, error) {
	b := newBlend(e.config)
	if len(next.Body) > 0 {
		var err error
		if b, err = decodeBlend(next.Body, e.idle.networks); err != nil {
			return Report{}, fmt.Errorf("%w: %w", ErrIncompatible, err)
		}
		if err := e.judge(ctx, b, window[len(window)-1]); err != nil {
			return Report{}, err
		}
	}
	var report Report
	for k, component := range e.components {
		recent := window[max(0, len(window)-component.config.WindowTimesteps):]
		c, r, err := component.Train(ctx, next.Shard, b.models[k], recent)
		if err != nil {
			return report, fmt.Errorf("component %s: %w", component.config.Model, err)
		}
		b.models[k] = c
		report.Slices = max(report.Slices, r.Slices)
		report.Steps += r.Steps
		report.FirstLoss += r.FirstLoss / float64(len(e.components))
		report.FinalLoss += r.FinalLoss / float64(len(e.components))
	}
	next.Body = b.encode()
	return report, nil
}

// judge adds the components' log-losses on a slice that they were not trained on.
func (e *Engine) judge(ctx context.Context, b *blend, s *lethe.Slice) error {
	if s.Labelled() == 0 {
		return nil
	}
	in := Input{Rows: len(s.Nodes), Cols: s.FeatureCount, Features: s.Features, Edges: s.Edges}
	for k, c := range b.models {
		p, err := e.Probabilities(ctx, c, in)
		if err != nil {
			return err
		}
		for i, label := range s.Labels {
			if label != lethe.Unknown {
				b.losses[k] -= logProbability(p[i*e.config.Classes+int(label)-1])
			}
		}
	}
	return nil
}

// logProbability bounds the cost of a single confident wrong prediction.
func logProbability(p float32) float64 {
	return portable.Log(max(float64(p), 1e-7))
}

// blendProbabilities combines the probabilities of a blend's components.
func (e *Engine) blendProbabilities(ctx context.Context, c *Checkpoint, in Input) ([]float32, error) {
	b, err := decodeBlend(c.Body, e.idle.networks)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	var logarithms []float64
	for k, w := range b.weights() {
		p, err := e.Probabilities(ctx, b.models[k], in)
		if err != nil {
			return nil, err
		}
		if logarithms == nil {
			logarithms = make([]float64, len(p))
		}
		for i, v := range p {
			logarithms[i] += float64(w * logProbability(v))
		}
	}
	out := make([]float32, 0, len(logarithms))
	classes := 0
	if in.Rows > 0 {
		classes = len(logarithms) / in.Rows
	}
	for from := 0; from < len(logarithms); from += classes {
		row := logarithms[from : from+classes]
		portable.Softmax(row)
		for _, v := range row {
			out = append(out, float32(v))
		}
	}
	return out, nil
}
