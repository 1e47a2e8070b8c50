package partition

import (
	"context"

	"lethe"
)

const (
	// meltTemperature and warmTemperature are the first temperatures of the
	// coarsest level and of the others, in mean edge weights per node.
	meltTemperature, warmTemperature = 0.35, 0.15
	// mostSweeps bounds the sweeps of coarse levels.
	mostSweeps = 1000
	// finePrice is the price of a node beyond the quota of a small class, in cut
	// edges, at the end of annealing. It is lower for large classes, of which a
	// looseShare costs as much: a few nodes of many are evened out cheaply.
	finePrice, looseShare = 0.5, 0.001
	// coarsePrice bounds what a mean node of a coarse level pays for moving by a
	// share of its edges, or it could not move at all.
	coarsePrice = 0.25
)

// anneal refines an assignment from the coarsest level to the graph itself and
// returns one that meets the quotas, with the number of moves made. start is an assignment of the graph; what it groups well survives
// as far as clusters allow. On every level nodes move one by one under soft
// quotas (see moves), so that a level costs O(sweeps × (nodes + edges)).
func (h *hierarchy) anneal(ctx context.Context, start Assignment, q *quotas, opts Options) (Assignment, int, error) {
	a, made := h.lift(start, q.shards), 0
	for k := len(h.levels) - 1; k >= 0; k-- {
		l := h.levels[k]
		temperature := meltTemperature
		if k < len(h.levels)-1 {
			a = h.lower(k, a)
			temperature = warmTemperature
		}
		m := newMoves(l, a, q)
		err := m.anneal(ctx, cooling{
			draws:       lethe.NewDraw(opts.Seed, "multilevel-anneal", uint64(k)),
			sweeps:      h.sweeps(l, opts.RefineSweeps),
			temperature: temperature * float64(l.totalWeight()) / float64(l.n()),
			price:       h.prices(l, q.shards, opts.Slack),
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

// sweeps returns the sweeps of a level: those of the finest, and on coarser ones
// as many as cost the same.
func (h *hierarchy) sweeps(l *level, finest int) int {
	work := func(l *level) int { return l.n() + len(l.neighbours) }
	return max(finest, min(mostSweeps, finest*work(h.levels[0])/work(l)))
}

// prices returns the price of every class at the end of annealing a level.
func (h *hierarchy) prices(l *level, shards, slack int) []float64 {
	prices := make([]float64, h.g.NumClasses())
	meanWeight := float64(l.totalWeight()) / float64(l.n())
	meanSize := float64(h.g.N()) / float64(l.n())
	for c, count := range h.g.classCounts {
		if count == 0 {
			continue
		}
		loose := max(float64(1+slack), looseShare*float64(count)/float64(shards))
		meanCount := float64(count) / float64(l.n())
		prices[c] = min(finePrice/loose, coarsePrice*meanWeight/(meanSize*meanCount))
	}
	return prices
}
