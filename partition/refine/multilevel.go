package refine

import (
	"context"

	"lethe/partition/coarsen"
	"lethe/partition/graph"

	"lethe"
)

const (
	// meltTemperature and warmTemperature are the initial temperatures of the coarsest level and of
	// the others, in mean edge weights per node.
	meltTemperature, warmTemperature = 0.35, 0.15
	// mostSweeps bounds the sweeps of coarse levels.
	mostSweeps = 1000
	// finePrice is the price of a node beyond the quota of a small class, in cut edges, at the end
	// of annealing. For a large class the price is lower: looseShare of its nodes costs as much,
	// because a few of many nodes are cheap to even out.
	finePrice, looseShare = 0.5, 0.001
	// coarsePrice bounds the price of moving a mean node of a coarse level by a share of its edges;
	// otherwise it could not move at all.
	coarsePrice = 0.25
)

// anneal refines an assignment from the coarsest level to the graph itself and returns one that
// meets the quotas, with the number of moves. start is an assignment of the graph; its structure
// is preserved as far as clusters allow. On every level nodes move one by one under soft quotas
// (see moves), so a level costs O(sweeps × (nodes + edges)).
func anneal(ctx context.Context, h *coarsen.Hierarchy, start graph.Assignment, q *graph.Quotas,
	c Config) (graph.Assignment, int, error) {
	a, made := h.Lift(start, q.Shards()), 0
	for k := len(h.Levels) - 1; k >= 0; k-- {
		l := h.Levels[k]
		temperature := meltTemperature
		if k < len(h.Levels)-1 {
			a = h.Lower(k, a)
			temperature = warmTemperature
		}
		m := newMoves(l, a, q)
		err := m.anneal(ctx, cooling{
			draws:       lethe.NewDraw(c.Seed, "multilevel-anneal", uint64(k)),
			sweeps:      levelSweeps(h, l, c.Sweeps),
			temperature: temperature * float64(l.TotalWeight()) / float64(l.N()),
			price:       prices(h, l, q.Shards(), c.Slack),
		})
		if err != nil {
			return nil, 0, err
		}
		if k == 0 {
			m.evenOut()
		}
		made += m.made
	}
	return a, made, nil
}

// levelSweeps returns the sweeps of a level: the given number on the finest level, and on coarser
// ones as many as take the same time.
func levelSweeps(h *coarsen.Hierarchy, l *coarsen.Level, finest int) int {
	work := func(l *coarsen.Level) int { return l.N() + len(l.Neighbours) }
	return max(finest, min(mostSweeps, finest*work(h.Levels[0])/work(l)))
}

// prices returns the price of every class at the end of annealing a level.
func prices(h *coarsen.Hierarchy, l *coarsen.Level, shards, slack int) []float64 {
	out := make([]float64, h.Graph.NumClasses())
	meanWeight := float64(l.TotalWeight()) / float64(l.N())
	meanSize := float64(h.Graph.N()) / float64(l.N())
	for c, count := range h.Graph.ClassCounts() {
		if count == 0 {
			continue
		}
		loose := max(float64(1+slack), looseShare*float64(count)/float64(shards))
		meanCount := float64(count) / float64(l.N())
		out[c] = min(finePrice/loose, coarsePrice*meanWeight/(meanSize*meanCount))
	}
	return out
}
