package partition

import (
	"context"
	"fmt"

	"lethe"
)

// gpfbFast is GPFB-Fast (Wang, Huai and Wang 2023, Algorithm 1) with three
// corrections: the factor of α is the one the objective asks for, a shift makes
// the iteration ascend, and the k-means step at the end fills quotas, since
// plain k-means promises neither balance nor fairness.
type gpfbFast struct{}

func (gpfbFast) propose(ctx context.Context, g *Graph, q *quotas, opts Options, report *Report) (Assignment, error) {
	if opts.Shards == 1 || g.N() <= opts.Shards {
		// Either no edge is cut, or every node has a shard of its own and every
		// edge is. There is nothing to embed for.
		return randomMethod{}.propose(ctx, g, q, opts, report)
	}
	h, err := embed(ctx, g, opts, report)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	a, err := discretise(ctx, g, h, q, opts.Seed)
	if err != nil {
		return nil, fmt.Errorf("rounding: %w", err)
	}
	return a, nil
}

// embed returns the n × v embedding of the nodes, row-major. It needs n >= v.
func embed(ctx context.Context, g *Graph, opts Options, report *Report) ([]float64, error) {
	weights := make([]float64, len(g.neighbours))
	for k := range weights {
		weights[k] = 1
	}
	op := newOperator(g, weights, opts.Alpha, opts.Shards, opts.Unnormalised)
	h, err := startEmbedding(g.N(), opts.Shards, opts.Seed)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if err := powerIterate(ctx, op, h, opts, report); err != nil {
		return nil, err
	}
	return h, nil
}

// startEmbedding returns an n × v matrix of keyed normal draws, one key per node
// position, made orthonormal.
func startEmbedding(n, v int, seed uint64) ([]float64, error) {
	raw := make([]float64, n*v)
	for i := range n {
		draw := lethe.NewDraw(seed, "gpfb-h0", uint64(i))
		for j := range v {
			raw[i*v+j] = draw.Normal()
		}
	}
	h := make([]float64, n*v)
	return h, newPolar(n, v).of(h, raw)
}
