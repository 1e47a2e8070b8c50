package ensemble

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/trainer"
)

// Answers are the results of the models of an ensemble for one graph.
type Answers struct {
	Classes int
	// Shards holds the posteriors of every shard's model: a row of Classes
	// probabilities per node, row-major.
	Shards [][]float32
}

// Ask evaluates every model on a graph. The models need features in the form of their slices, so
// the caller must have joined one-hop features to the graph if slices have them (onehop.Mode.Join).
//
// Errors are those of AskOne.
func (r Runner) Ask(ctx context.Context, models []*trainer.Checkpoint, graph trainer.Input) (*Answers, error) {
	a := &Answers{Classes: r.Engine(0).Config().Classes, Shards: make([][]float32, len(models))}
	order := r.order(len(models))
	err := r.Each(ctx, len(models), func(ctx context.Context, i int) (err error) {
		model := order[i]
		a.Shards[model], err = r.AskOne(ctx, models, graph, model)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// order places models that process rows independently after the first model that needs the graph: they run while
// that one prepares the graph, which the other graph models wait for.
func (r Runner) order(models int) []lethe.ShardID {
	var ofRows, ofGraph []lethe.ShardID
	for i := range models {
		model := lethe.ShardID(i)
		if r.Engine(model).Config().LooksAtRows() {
			ofRows = append(ofRows, model)
		} else {
			ofGraph = append(ofGraph, model)
		}
	}
	first := min(1, len(ofGraph))
	return slices.Concat(ofGraph[:first], ofRows, ofGraph[first:])
}

// AskOne evaluates one of the models on a graph, as Ask does, and returns the posteriors of its
// nodes, row by row. Errors are those of trainer.Engine.Probabilities, with the shard.
func (r Runner) AskOne(
	ctx context.Context, models []*trainer.Checkpoint, graph trainer.Input, model lethe.ShardID,
) ([]float32, error) {
	posteriors, err := r.Engine(model).Probabilities(ctx, models[model], graph)
	if want := graph.Rows * r.Engine(0).Config().Classes; err == nil && len(posteriors) != want {
		err = fmt.Errorf("%w: %d probabilities for %d nodes, want %d",
			trainer.ErrIncompatible, len(posteriors), graph.Rows, want)
	}
	if err != nil {
		return nil, fmt.Errorf("shard %d: %w", model, err)
	}
	return posteriors, nil
}

// Illicit returns the probability of illicit per node, in [0, 1], from posteriors
// of the two classes licit and illicit.
func Illicit(posteriors []float32) []float64 {
	out := make([]float64, len(posteriors)/2)
	for i := range out {
		// Rounding of a weighted sum may exceed 1 slightly.
		out[i] = math.Min(1, math.Max(0, float64(posteriors[2*i+1])))
	}
	return out
}
