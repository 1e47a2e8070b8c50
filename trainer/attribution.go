package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"lethe/trainer/logistic"
	"lethe/trainer/tabular"
	"lethe/trainer/trees"
)

// ErrUnexplained means that a model has no attribution: a Blend, whose parts are combined as
// probabilities, or a model of classes other than licit and illicit.
var ErrUnexplained = errors.New("model is not explained")

// Attribution splits a row's logit of illicit into contributions of the parts of the graph. Base,
// Shape, Features and Rows add up to Logit: within rounding for trees and logistic regressions,
// within 1e-3 for networks (see Engine.Explain).
type Attribution struct {
	// Logit is the model's logit, before rounding to a single-precision probability.
	Logit float64
	// Base is the logit from which the contributions start.
	Base float64
	// Shape is the contribution of the edges around the row while no feature of any row is known.
	Shape float64
	// Features is the contribution of each feature of the row itself.
	Features []float64
	// Rows is the contribution of all features of each other row of the graph, 0 at the row itself.
	// It is nil for models that process one row at a time.
	Rows []float64
}

// Explains reports whether models of the configuration have attributions.
func (c Config) Explains() bool { return c.Model != Blend && c.Classes == 2 }

// Reach is the maximum distance, in edges, at which one row can influence the output for another;
// 0 for models that process one row at a time.
func (c Config) Reach() int {
	if keepsBody(c.Model) {
		return 0
	}
	return c.network().Reach(c.Architecture(1))
}

// Spot is a row of a graph, possibly of the subgraph that Input.Around returns.
type Spot struct {
	Graph Input
	Row   int
}

// Each calls f for 0 to n-1, possibly in parallel, and returns the first error.
type Each func(ctx context.Context, n int, f func(ctx context.Context, i int) error) error

// Explain attributes the mean logit of models, row by row. No attribution depends on the other
// rows.
//
// Trees have TreeSHAP's values over the mean score of the training rows, and logistic
// regressions their terms over the intercept. Networks have
// integrated gradients (Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks",
// ICML 2017) of their mean, from a graph with the same edges and all-zero rows, which represent
// unknown features, to the graph; Base is the logit of such a row alone, and Shape the
// contribution of the edges.
//
// Errors are those of Probabilities, or wrap ErrUnexplained.
func (e *Engine) Explain(ctx context.Context, each Each, models []*Checkpoint, spots []Spot) ([]*Attribution, error) {
	if !e.config.Explains() {
		return nil, fmt.Errorf("%w: %s of %d classes", ErrUnexplained, e.config.Model, e.config.Classes)
	}
	if len(models) == 0 || len(spots) == 0 {
		return nil, ctx.Err()
	}
	if looksAtRows(e.config.Model) {
		return explainRows(ctx, each, models, spots)
	}
	for _, c := range models {
		if err := e.idle.check(c); err != nil {
			return nil, fmt.Errorf("explain by shard %d timestep %d: %w: %w", c.Shard, c.Timestep, ErrIncompatible, err)
		}
	}
	for _, s := range spots {
		if err := s.Graph.check(models[0].Architecture.Features); err != nil {
			return nil, err
		}
	}
	return integrate(ctx, e, each, models, spots)
}

// explainRows explains with models that process single rows.
func explainRows(ctx context.Context, each Each, models []*Checkpoint, spots []Spot) ([]*Attribution, error) {
	out, decoded := make([]*Attribution, len(spots)), make([]rowModel, len(models))
	for k, c := range models {
		var err error
		if decoded[k], err = c.rows(); err != nil {
			return nil, fmt.Errorf("explain by shard %d timestep %d: %w: %w", c.Shard, c.Timestep, ErrIncompatible, err)
		}
	}
	err := each(ctx, len(spots), func(_ context.Context, i int) error {
		parts := make([]*Attribution, len(models))
		for k, m := range decoded {
			var err error
			if parts[k], err = explainRow(m, spots[i].Graph, spots[i].Row); err != nil {
				return fmt.Errorf("explain by shard %d timestep %d: %w", models[k].Shard, models[k].Timestep, err)
			}
		}
		out[i] = mean(parts)
		return nil
	})
	return out, err
}

// mean returns the mean of attributions of one shape.
func mean(parts []*Attribution) *Attribution {
	share := 1 / float64(len(parts))
	out := &Attribution{Features: make([]float64, len(parts[0].Features))}
	for _, p := range parts {
		out.Logit += float64(share * p.Logit)
		out.Base += float64(share * p.Base)
		for i, v := range p.Features {
			out.Features[i] += float64(share * v)
		}
	}
	return out
}

// explainRow explains with a model that processes single rows. The logit of an untrained model is
// 0.
func explainRow(m rowModel, in Input, row int) (*Attribution, error) {
	var err error
	a := &Attribution{Features: make([]float64, in.Cols)}
	var explanation tabular.Explanation
	switch m := m.(type) {
	case *trees.Model:
		explanation, err = m.Explain(in.row(row))
	case *logistic.Model:
		explanation, err = m.Explain(in.row(row))
	default:
		return a, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	a.Logit, a.Base, a.Features = explanation.Scores[0], explanation.Expected[0], explanation.Terms
	if math.IsNaN(a.Logit) || math.IsInf(a.Logit, 0) {
		return nil, fmt.Errorf("score of a row: %w", ErrNotFinite)
	}
	return a, nil
}
