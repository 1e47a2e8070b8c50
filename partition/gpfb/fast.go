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
func (Fast) Even() bool { return true }

// Propose implements method.Method.
func (f Fast) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	g := r.Graph()
	f.Alpha = f.AlphaFor(g)
	if embedsClusters(r) {
		return f.proposeByClusters(ctx, r)
	}
	inner := g.WithoutIsolated()
	if NothingToEmbed(inner, r) {
		return baselines.Random{}.Propose(ctx, r)
	}
	var course method.Course
	h, err := Embed(ctx, NewOperator(inner.Graph, r.Shards, f.Alpha), r.Seed, f.Config, &course)
	if err != nil {
		return nil, course, fmt.Errorf("embedding: %w", err)
	}
	q := graph.NewQuotas(g, r.Shards)
	a, err := FillQuotas(ctx, inner.Graph, h, q, kmeans.StartCentres(h, r.Shards, r.Seed, 0))
	if err != nil {
		return nil, course, fmt.Errorf("rounding: %w", err)
	}
	return inner.Complete(g, a, q), course, nil
}

// NothingToEmbed reports whether there is one shard, so that no edge is cut, or at most one
// connected node per shard, so that every edge is.
func NothingToEmbed(inner *graph.Connected, r method.Request) bool {
	return r.Shards == 1 || inner.Graph.N() <= r.Shards
}
