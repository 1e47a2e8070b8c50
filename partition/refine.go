package partition

import (
	"context"
	"math"

	"lethe"
)

const (
	// candidates is how many nodes of the other shard are tried per visit while
	// annealing.
	candidates = 16
	// startTemperature is in cut edges: an exchange that adds one is accepted
	// with probability exp(-1/0.8) = 0.29 at first.
	startTemperature = 0.8
	// descentCandidates and descentSweeps bound the greedy descent at the end,
	// which mostly settles within five sweeps.
	descentCandidates = 256
	descentSweeps     = 20
)

// refine lowers the cut of an assignment in place by exchanging nodes of one
// class, and returns the number of exchanges. It anneals (Kirkpatrick, Gelatt
// and Vecchi 1983) with a temperature that falls linearly to zero, then
// descends. The assignment is never worse than it was.
func refine(ctx context.Context, g *Graph, a Assignment, opts Options) (int, error) {
	if opts.Shards == 1 || g.N() <= opts.Shards || g.NumEdges() == 0 {
		return 0, ctx.Err() // no assignment cuts fewer edges than another
	}
	start := append(Assignment(nil), a...)
	s := newSwaps(g, a, opts.Shards)
	startCut := s.cut
	for sweep := range opts.RefineSweeps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		temperature := startTemperature * float64(opts.RefineSweeps-sweep) / float64(opts.RefineSweeps)
		s.anneal(temperature, lethe.NewDraw(opts.Seed, "refine-anneal", uint64(sweep)))
	}
	if err := s.descend(ctx, opts.Seed); err != nil {
		return 0, err
	}
	if s.cut > startCut {
		copy(a, start)
		made := s.made
		s = newSwaps(g, a, opts.Shards)
		s.made = made
		if err := s.descend(ctx, opts.Seed); err != nil {
			return 0, err
		}
	}
	return s.made, nil
}

// anneal visits every node once and offers it a place in the shard of a drawn
// neighbour. Exchanges that add cut edges are accepted by Metropolis' rule.
func (s *swaps) anneal(temperature float64, draw *lethe.Draw) {
	for i := range s.a {
		neighbours := s.g.Neighbors(i)
		if len(neighbours) == 0 {
			continue
		}
		to := s.a[neighbours[below(draw, len(neighbours))]]
		if to == s.a[i] {
			continue
		}
		j, saved, found := s.best(i, to, candidates, draw)
		if !found {
			continue
		}
		if saved >= 0 || draw.Float64() < math.Exp(float64(saved)/temperature) {
			s.exchange(i, j, saved)
		}
	}
}

// descend takes every exchange that saves a cut edge until a sweep finds none.
func (s *swaps) descend(ctx context.Context, seed uint64) error {
	for sweep := range descentSweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		draw := lethe.NewDraw(seed, "refine-descend", uint64(sweep))
		before := s.cut
		for i := range s.a {
			s.improve(i, draw)
		}
		if s.cut == before {
			return nil
		}
	}
	return nil
}

// improve tries the shards of all neighbours of node i and takes the exchanges
// that save cut edges.
func (s *swaps) improve(i int, draw *lethe.Draw) {
	for _, k := range s.g.Neighbors(i) {
		to := s.a[k]
		if to == s.a[i] {
			continue
		}
		if j, saved, found := s.best(i, to, descentCandidates, draw); found && saved > 0 {
			s.exchange(i, j, saved)
		}
	}
}
