package gpfb

import (
	"cmp"
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

// PlainLimit is the number of nodes up to which gpfb-fast without refinement
// embeds the graph itself. Two n × v arrays of float64 are 32 MB there with 20
// shards; with refinement the clusters are enough, since it moves nodes anyway.
const PlainLimit = 100_000

// embedsClusters reports whether the coarsest level of the hierarchy is embedded in
// place of the graph. It needs more clusters than shards, and the operator of
// clusters knows the normalised base only.
func (f Fast) embedsClusters(r method.Request) bool {
	h := r.Hierarchy
	return !f.Plain && !f.Unnormalised && r.Shards > 1 && len(h.Levels) > 1 && h.Coarsest().N() > r.Shards
}

// proposeByClusters is GPFB-Fast on the coarsest level: the power iteration and
// k-means with bounded sizes see clusters, and the quotas are met at the end.
func (f Fast) proposeByClusters(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	h := r.Hierarchy
	embedding, course, err := embedClusters(ctx, r, f.Config)
	if err != nil {
		return nil, course, fmt.Errorf("embedding of %d clusters: %w", h.Coarsest().N(), err)
	}
	a, err := discretise(ctx, embedding, r)
	if err != nil {
		return nil, course, fmt.Errorf("rounding of %d clusters: %w", h.Coarsest().N(), err)
	}
	for k := len(h.Levels) - 2; k >= 0; k-- {
		a = h.Lower(k, a)
	}
	refine.EvenOut(h.Levels[0], a, graph.NewQuotas(h.Graph, r.Shards))
	return a, course, nil
}

// embedClusters runs the power iteration on the coarsest level. See powerIterate.
func embedClusters(ctx context.Context, r method.Request, c Config) (*kmeans.Points, method.Course, error) {
	n, v := r.Hierarchy.Coarsest().N(), r.Shards
	course := method.Course{}
	op := newClusterOperator(r.Hierarchy, c.Alpha, v)
	embedding, err := op.startEmbedding(r.Seed)
	if err != nil {
		return nil, course, fmt.Errorf("start: %w", err)
	}
	values := embedding.Values
	p := make([]float64, len(values))
	factor := newPolar(n, v)
	course.Objective = append(course.Objective, op.apply(p, values))
	for course.Iterations < c.Sweeps && !course.Converged {
		if err := ctx.Err(); err != nil {
			return nil, course, err
		}
		if err := factor.of(values, p); err != nil {
			return nil, course, fmt.Errorf("power iteration %d: %w", course.Iterations, err)
		}
		note(&course, op.apply(p, values), c.Tolerance*float64(v))
	}
	return embedding, course, nil
}

// discretise rounds an embedding of the coarsest level to shards, as fillQuotas
// does for the graph itself, but with no more than a bound on sizes.
func discretise(ctx context.Context, embedding *kmeans.Points, r method.Request) (graph.Assignment, error) {
	n, v := embedding.Rows(), r.Shards
	centres := kmeans.StartCentres(embedding, v, r.Seed, 0)
	distance := make([]float64, n*v)
	var a graph.Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kmeans.Distances(distance, embedding, centres)
		next := assignBySize(r.Hierarchy, distance, v)
		if slices.Equal(a, next) {
			break
		}
		a = next
		kmeans.MoveCentres(centres, embedding, a)
	}
	return a, nil
}

// assignBySize gives every cluster the nearest shard that it still fits into, or
// else the emptiest. Clusters choose in the order of their regret. distance is
// clusters × shards.
func assignBySize(h *coarsen.Hierarchy, distance []float64, shards int) graph.Assignment {
	l := h.Coarsest()
	regret := make([]float64, l.N())
	order := make([]int, l.N())
	for i := range order {
		order[i] = i
		regret[i] = regretOf(distance[i*shards : (i+1)*shards])
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(regret[j], regret[i]), cmp.Compare(i, j))
	})
	left := make([]int, shards)
	for s := range left {
		left[s] = (h.Graph.N() + shards - 1) / shards
	}
	a := make(graph.Assignment, l.N())
	for _, i := range order {
		size, best := l.Size(i), -1
		for s, d := range distance[i*shards : (i+1)*shards] {
			if left[s] >= size && (best < 0 || d < distance[i*shards+best]) {
				best = s
			}
		}
		if best < 0 {
			best = slices.Index(left, slices.Max(left))
		}
		left[best] -= size
		a[i] = lethe.ShardID(best)
	}
	return a
}
