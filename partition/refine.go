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
	// polishTemperature is in cut edges: an exchange that adds one is accepted
	// with probability exp(-1/0.3) = 0.04 at first. polishShare is the share of
	// the annealing sweeps that it gets.
	polishTemperature = 0.3
	polishShare       = 0.5
	// A descent tries up to mostDescentCandidates nodes per exchange, but on
	// large graphs so few that a sweep tries about descentVisits, though never
	// below the candidates of annealing. It mostly settles within five sweeps.
	mostDescentCandidates = 256
	descentVisits         = 4_000_000
	descentSweeps         = 20
	// settled is the share of the cut that a sweep of the descent must save for
	// another to be worth its time. Below a thousand cut edges it is one edge.
	settled = 0.001
)

// refine lowers the cut of an assignment in place, and returns the number of
// moves and exchanges it made. The assignment meets the quotas before and, within
// the slack, after, and never cuts more edges than it did.
//
// A multilevel annealing (see hierarchy) finds the shards, quotas are met
// exactly, and exchanges of two nodes of one class make up for what that cost.
func refine(ctx context.Context, g *Graph, a Assignment, opts Options) (int, error) {
	h, err := coarsen(ctx, g, opts)
	if err != nil {
		return 0, err
	}
	return h.improve(ctx, a, opts)
}

// improve refines an assignment of the hierarchy's graph in place.
func (h *hierarchy) improve(ctx context.Context, a Assignment, opts Options) (int, error) {
	if opts.Shards == 1 || h.g.NumEdges() == 0 || h.g.N() <= opts.Shards && opts.Slack == 0 {
		return 0, ctx.Err() // no assignment cuts fewer edges than another
	}
	q := newQuotas(h.g, opts.Shards)
	better, made, err := h.anneal(ctx, a, q, opts)
	if err != nil {
		return 0, err
	}
	s := newSwaps(h.g, better, opts.Shards)
	s.loose = newSlack(q, opts.Slack)
	if err := s.polish(ctx, opts); err != nil {
		return 0, err
	}
	made += s.made
	if startCut := cutEdges(h.g, a); s.cut >= startCut {
		s = newSwaps(h.g, append(Assignment(nil), a...), opts.Shards)
		s.loose = newSlack(q, opts.Slack)
		if err := s.descend(ctx, opts.Seed); err != nil {
			return 0, err
		}
		made += s.made
	}
	copy(a, s.a)
	return made, nil
}

// polish anneals exchanges at a low temperature, then descends. The largest
// graphs only descend: single moves have left nothing for exchanges to find.
func (s *swaps) polish(ctx context.Context, opts Options) error {
	if s.table == nil {
		return s.descend(ctx, opts.Seed)
	}
	sweeps := int(math.Ceil(polishShare * float64(opts.RefineSweeps)))
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		temperature := polishTemperature * float64(sweeps-sweep) / float64(sweeps)
		s.anneal(temperature, lethe.NewDraw(opts.Seed, "refine-anneal", uint64(sweep)))
	}
	return s.descend(ctx, opts.Seed)
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
			s.exchange(i, j, to, saved)
		}
	}
}

// descend takes exchanges that save cut edges until a sweep finds next to none.
func (s *swaps) descend(ctx context.Context, seed uint64) error {
	limit := max(candidates, min(mostDescentCandidates, descentVisits/max(1, s.g.N())))
	for sweep := range descentSweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		draw := lethe.NewDraw(seed, "refine-descend", uint64(sweep))
		before := s.cut
		for i := range s.a {
			s.improve(i, limit, draw)
		}
		if float64(before-s.cut) <= settled*float64(before) {
			return nil
		}
	}
	return nil
}

// improve tries the shards of all neighbours of node i and takes the exchanges
// that save cut edges. Of the two nodes of such an exchange at least one has more
// neighbours where it goes than where it is; it is enough to start from that one.
func (s *swaps) improve(i, limit int, draw *lethe.Draw) {
	neighbours := s.g.Neighbors(i)
	home := s.links(i, s.a[i])
	if 2*home >= len(neighbours) {
		return // no other shard holds more of them
	}
	for _, k := range neighbours {
		to := s.a[k]
		if to == s.a[i] || s.links(i, to) <= home {
			continue
		}
		if j, saved, found := s.best(i, to, limit, draw); found && saved > 0 {
			s.exchange(i, j, to, saved)
			home = s.links(i, to)
		}
	}
}
