package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"lethe"
	"lethe/trainer"
)

// embedder joins to rows what a group's encoder makes of them and their neighbours. It
// has learnt from the group's slices alone, timestep by timestep: like a model that is
// trained step by step it is a function of them and of nothing else.
type embedder struct {
	options extras
	encoder *dgi
	// Of every feature so far, over the nodes whose value is there: how many, their sum and
	// the sum of their squares.
	count, sum, squares []float64
}

// learn takes in the group's slice of a timestep.
func (e *embedder) learn(s *lethe.Slice) {
	if e.encoder == nil {
		e.encoder = newDGI(s.FeatureCount, e.options.width, e.options.seed)
		e.count, e.sum, e.squares = make([]float64, s.FeatureCount), make([]float64, s.FeatureCount),
			make([]float64, s.FeatureCount)
	}
	for i := range s.Nodes {
		for k, v := range s.Row(i) {
			if !lethe.IsMissing(v) {
				e.count[k]++
				e.sum[k] += float64(v)
				e.squares[k] += float64(v) * float64(v)
			}
		}
	}
	if len(s.Nodes) > 0 {
		in := trainer.InputOfSlice(s)
		e.encoder.learn(e.scaled(in), in.Neighbours(), s.Timestep, e.options.epochs)
	}
}

// scaled returns rows in standard deviations from the mean, five at most, and 0 for what
// is missing.
func (e *embedder) scaled(in trainer.Input) *mat.Dense {
	out := mat.NewDense(in.Rows, in.Cols, nil)
	out.Apply(func(i, k int, _ float64) float64 {
		v := in.Features[i*in.Cols+k]
		if lethe.IsMissing(v) || e.count[k] == 0 {
			return 0
		}
		mean := e.sum[k] / e.count[k]
		deviation := math.Sqrt(max(e.squares[k]/e.count[k]-mean*mean, 0))
		if deviation < 1e-9 {
			return 0
		}
		return min(max((float64(v)-mean)/deviation, -5), 5)
	}, out)
	return out
}

// join returns a graph with the embeddings as further features.
func (e *embedder) join(in trainer.Input) trainer.Input {
	if in.Rows == 0 {
		in.Cols += e.options.width
		return in
	}
	h := e.encoder.embed(surroundings(e.scaled(in), in.Neighbours()))
	features := make([]float32, 0, in.Rows*(in.Cols+e.options.width))
	for i := range in.Rows {
		features = append(features, in.Features[i*in.Cols:(i+1)*in.Cols]...)
		for _, v := range h.RawRowView(i) {
			features = append(features, float32(v))
		}
	}
	return trainer.Input{Rows: in.Rows, Cols: in.Cols + e.options.width, Features: features, Edges: in.Edges}.Shared()
}

// window returns slices with the embeddings as further features.
func (e *embedder) window(window []*lethe.Slice) []*lethe.Slice {
	out := slices.Clone(window)
	for i, s := range window {
		joined := e.join(trainer.InputOfSlice(s))
		with := *s
		// A union is named by its parts, which have no such rows.
		with.FeatureCount, with.Features, with.Parts = joined.Cols, joined.Features, nil
		out[i] = &with
	}
	return out
}
