package refine

import (
	"context"
	"math"

	"lethe"
	"lethe/internal/portable/gomath"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
)

const (
	// candidates is how many nodes of the other shard are tried per visit while annealing.
	candidates = 16
	// polishTemperature is in cut edges: a swap that adds one is initially accepted with probability
	// exp(-1/0.3) = 0.04. polishShare is its share of the annealing sweeps.
	polishTemperature = 0.3
	polishShare       = 0.5
	// A descent tries up to mostDescentCandidates nodes per swap. On large graphs it tries fewer, so
	// that a sweep tries about descentVisits, but at least candidates. It usually converges within
	// five sweeps.
	mostDescentCandidates = 256
	descentVisits         = 4_000_000
	descentSweeps         = 20
	// settled is the share of the cut that a sweep of the descent must save to justify another.
	// Below a thousand cut edges it is one edge.
	settled = 0.001
)

// Config configures a refinement.
type Config struct {
	// Shards is the number of shards; Seed is the key of every draw.
	Shards int
	Seed   uint64
	// Sweeps is the number of annealing sweeps over the nodes; coarser levels get as many as take
	// the same time.
	Sweeps int
	// Slack is how far a shard may deviate from its even share of every class, and of all nodes,
	// where that lowers the cut.
	Slack int
}

// Sweeps bounds the number of sweeps for a graph. It falls with the root of the number of nodes,
// from Most down to Least.
type Sweeps struct{ Least, Most int }

// DefaultSweeps gives small graphs as many sweeps as still lower the cut noticeably; from 400,000
// nodes on the work is linear.
func DefaultSweeps() Sweeps { return Sweeps{Least: 10, Most: 200} }

// For returns the number of sweeps for a graph of n nodes.
func (s Sweeps) For(n int) int {
	const scale = 6325
	return int(max(float64(s.Least), min(float64(s.Most), scale/math.Sqrt(float64(max(1, n))))))
}

// Refine lowers the cut of an assignment of the hierarchy's graph in place, and returns the
// number of moves and swaps. The assignment must meet the quotas; afterwards it meets them within
// the slack and never cuts more edges than before.
//
// A multilevel annealing finds the shards, then quotas are met exactly, and swaps of two nodes of one class recover
// cut edges lost by that.
func Refine(ctx context.Context, h *coarsen.Hierarchy, a graph.Assignment, c Config) (int, error) {
	if c.Shards == 1 || h.Graph.NumEdges() == 0 || h.Graph.N() <= c.Shards && c.Slack == 0 {
		return 0, ctx.Err() // no assignment cuts fewer edges than another
	}
	q := graph.NewQuotas(h.Graph, c.Shards)
	better, made, err := anneal(ctx, h, a, q, c)
	if err != nil {
		return 0, err
	}
	s := newSwaps(h.Graph, better, c.Shards)
	s.loose = newSlack(q, c.Slack)
	if err := s.polish(ctx, c); err != nil {
		return 0, err
	}
	made += s.made
	if startCut := h.Graph.CutEdges(a); s.cut >= startCut {
		s = newSwaps(h.Graph, append(graph.Assignment(nil), a...), c.Shards)
		s.loose = newSlack(q, c.Slack)
		if err := s.descend(ctx, c.Seed); err != nil {
			return 0, err
		}
		made += s.made
	}
	copy(a, s.a)
	return made, nil
}

// polish anneals swaps at a low temperature, then descends. The largest graphs only descend,
// because single moves leave nothing for swaps to find.
func (s *swaps) polish(ctx context.Context, c Config) error {
	if s.table == nil {
		return s.descend(ctx, c.Seed)
	}
	sweeps := int(math.Ceil(polishShare * float64(c.Sweeps)))
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		temperature := polishTemperature * float64(sweeps-sweep) / float64(sweeps)
		s.anneal(temperature, lethe.NewDraw(c.Seed, "refine-anneal", uint64(sweep)))
	}
	return s.descend(ctx, c.Seed)
}

// anneal visits every node once and proposes a place in the shard of a drawn neighbour. Swaps
// that add cut edges are accepted by Metropolis' rule.
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
		if saved >= 0 || draw.Float64() < gomath.Exp(float64(saved)/temperature) {
			s.exchange(i, j, to, saved)
		}
	}
}

// descend makes swaps that save cut edges until a sweep finds almost none.
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

// improve tries the shards of all neighbours of node i and makes the swaps that save cut edges.
// In such a swap at least one of the two nodes has more neighbours in its new shard than in its
// old one; starting from that node is sufficient.
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
