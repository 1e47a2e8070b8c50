package gpfb

import (
	"context"
	"fmt"
	"slices"

	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/method"
	"lethe/partition/refine"

	"lethe"
)

// GraphLimit is the number of nodes up to which gpfb-fast without refinement embeds the graph
// itself. Two n × v arrays of float64 take 32 MB at that size with 20 shards. With refinement the
// clusters are sufficient, because refinement moves nodes anyway.
const GraphLimit = 100_000

// embedsClusters reports whether the coarsest level of the hierarchy is embedded instead of the
// graph. That needs more clusters than shards.
func embedsClusters(r method.Request) bool {
	h := r.Hierarchy
	return r.Shards > 1 && len(h.Levels) > 1 && h.Coarsest().N() > r.Shards
}

// proposeByClusters is GPFB-Fast on the coarsest level: the power iteration and k-means with
// bounded sizes work on clusters, and the quotas are met at the end.
func (f Fast) proposeByClusters(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	h := r.Hierarchy
	var course method.Course
	embedding, err := Embed(ctx, newClusterOperator(h, f.Alpha, r.Shards), r.Seed, f.Config, &course)
	if err != nil {
		return nil, course, fmt.Errorf("embedding of %d clusters: %w", h.Coarsest().N(), err)
	}
	centres := kmeans.StartCentres(embedding, r.Shards, r.Seed, 0)
	a, err := boundedMeans(ctx, embedding, centres, func(distance []float64) graph.Assignment {
		return assignBySize(h, distance, r.Shards)
	})
	if err != nil {
		return nil, course, fmt.Errorf("rounding of %d clusters: %w", h.Coarsest().N(), err)
	}
	for k := len(h.Levels) - 2; k >= 0; k-- {
		a = h.Lower(k, a)
	}
	refine.EvenOut(h.Levels[0], a, graph.NewQuotas(h.Graph, r.Shards))
	return a, course, nil
}

// assignBySize gives every cluster the nearest shard with room for it, or else the emptiest.
// Clusters choose in the order of their regret. distance is clusters × shards.
func assignBySize(h *coarsen.Hierarchy, distance []float64, shards int) graph.Assignment {
	l := h.Coarsest()
	left := make([]int, shards)
	for s := range left {
		left[s] = (h.Graph.N() + shards - 1) / shards
	}
	a := make(graph.Assignment, l.N())
	for _, i := range regretOrder(distance, shards) {
		size := l.Size(i)
		best := nearestWithRoom(distance[i*shards:(i+1)*shards], left, size)
		if best < 0 {
			best = slices.Index(left, slices.Max(left))
		}
		left[best] -= size
		a[i] = lethe.ShardID(best)
	}
	return a
}
