package gpfb

import (
	"context"
	"fmt"

	"lethe/partition/baselines"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// Fast is GPFB-Fast (Wang, Huai and Wang 2023, Algorithm 1) with three corrections: the factor of
// α follows from the objective, a shift makes the iteration ascend, and the k-means step at the
// end fills quotas, because plain k-means guarantees neither balance nor fairness.
type Fast struct{ Config }

// Even implements method.Method.
func (f Fast) Even() bool { return !f.Plain }

// Propose implements method.Method.
func (f Fast) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	if f.embedsClusters(r) {
		return f.proposeByClusters(ctx, r)
	}
	g := r.Graph()
	inner := g.WithoutIsolated()
	if nothingToEmbed(inner, r) {
		return baselines.Random{Plain: f.Plain}.Propose(ctx, r)
	}
	var course method.Course
	op := newOperator(inner.Graph, unitWeights(inner.Graph), r.Shards, f.Config)
	h, err := embed(ctx, op, r.Seed, f.Config, &course)
	if err != nil {
		return nil, course, fmt.Errorf("embedding: %w", err)
	}
	q := graph.NewQuotas(g, r.Shards)
	var a graph.Assignment
	if f.Plain {
		a, err = kmeans.Cluster(ctx, h, r.Shards, r.Seed)
	} else {
		a, err = fillQuotas(ctx, inner.Graph, h, q, kmeans.StartCentres(h, r.Shards, r.Seed, 0))
	}
	if err != nil {
		return nil, course, fmt.Errorf("rounding: %w", err)
	}
	return inner.Complete(g, a, q), course, nil
}

// nothingToEmbed reports whether there is one shard, so that no edge is cut, or at most one
// connected node per shard, so that every edge is.
func nothingToEmbed(inner *graph.Connected, r method.Request) bool {
	return r.Shards == 1 || inner.Graph.N() <= r.Shards
}
