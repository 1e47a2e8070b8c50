package partition

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lethe"
)

// plainLimit is the number of nodes up to which gpfb-fast without refinement
// embeds the graph itself. Two n × v arrays of float64 are 32 MB there with 20
// shards; with refinement the clusters are enough, since it moves nodes anyway.
const plainLimit = 100_000

// embedsClusters reports whether gpfb-fast embeds the coarsest level of the
// hierarchy in place of the graph. It needs more clusters than shards, and
// knows the normalised base only.
func (h *hierarchy) embedsClusters(opts Options) bool {
	return opts.Method == MethodGPFBFast && len(h.levels) > 1 && h.coarsest().n() > opts.Shards &&
		opts.Shards > 1 && !opts.Unnormalised && (!opts.NoRefine || h.g.N() > plainLimit)
}

// proposeByClusters is gpfb-fast on the coarsest level: the power iteration and
// k-means with bounded sizes see clusters, and the quotas are met at the end.
func (h *hierarchy) proposeByClusters(ctx context.Context, _ *Graph, q *quotas, opts Options, report *Report) (Assignment, error) {
	embedding, err := h.embed(ctx, opts, report)
	if err != nil {
		return nil, fmt.Errorf("embedding of %d clusters: %w", h.coarsest().n(), err)
	}
	a, err := h.discretise(ctx, embedding, q, opts.Seed)
	if err != nil {
		return nil, fmt.Errorf("rounding of %d clusters: %w", h.coarsest().n(), err)
	}
	for k := len(h.levels) - 2; k >= 0; k-- {
		a = h.lower(k, a)
	}
	newMoves(h.levels[0], a, q).evenOut()
	return a, nil
}

// embed runs the power iteration on the coarsest level. See powerIterate.
func (h *hierarchy) embed(ctx context.Context, opts Options, report *Report) (*Embedding, error) {
	n, v := h.coarsest().n(), opts.Shards
	op := newCoarseOperator(h, opts.Alpha, v)
	embedding, err := op.startEmbedding(opts.Seed)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	values := embedding.Values
	p := make([]float64, len(values))
	factor := newPolar(n, v)
	objective := op.apply(p, values)
	report.Objective = append(report.Objective, objective)
	for report.Iterations < opts.Sweeps && !report.Converged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := factor.of(values, p); err != nil {
			return nil, fmt.Errorf("power iteration %d: %w", report.Iterations, err)
		}
		report.Iterations++
		before := objective
		objective = op.apply(p, values)
		report.Objective = append(report.Objective, objective)
		report.Converged = objective-before <= opts.Tolerance*float64(v)
	}
	return embedding, nil
}

// discretise rounds an embedding of the coarsest level to shards, as fillQuotas
// does for the graph itself, but with no more than a bound on sizes.
func (h *hierarchy) discretise(ctx context.Context, embedding *Embedding, q *quotas, seed uint64) (Assignment, error) {
	n, v := h.coarsest().n(), q.shards
	centres := startCentres(embedding, v, seed, 0)
	distance := make([]float64, n*v)
	var a Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		distances(distance, embedding, centres)
		next := h.assignBySize(distance, v)
		if slices.Equal(a, next) {
			break
		}
		a = next
		moveCentres(centres, embedding, a)
	}
	return a, nil
}

// assignBySize gives every cluster the nearest shard that it still fits into, or
// else the emptiest. Clusters choose in the order of their regret. distance is
// clusters × shards.
func (h *hierarchy) assignBySize(distance []float64, shards int) Assignment {
	l := h.coarsest()
	regret := make([]float64, l.n())
	order := make([]int, l.n())
	for i := range order {
		order[i] = i
		regret[i] = regretOf(distance[i*shards : (i+1)*shards])
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(regret[j], regret[i]), cmp.Compare(i, j))
	})
	left := make([]int, shards)
	for s := range left {
		left[s] = (h.g.N() + shards - 1) / shards
	}
	a := make(Assignment, l.n())
	for _, i := range order {
		size, best := l.size(i), -1
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
