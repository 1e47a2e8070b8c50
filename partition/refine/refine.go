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

// Config says how to refine.
type Config struct {
	// Shards is the number of shards, Seed keys every draw.
	Shards int
	Seed   uint64
	// Sweeps is the number of annealing sweeps over the nodes; coarser levels get
	// as many as cost the same.
	Sweeps int
	// Slack is how many nodes a shard may lie above or below its even share of
	// every class, and of all nodes, where that lowers the cut.
	Slack int
}

// Sweeps says how many sweeps a graph gets: fewer with the root of the number of
// its nodes, but never below Least or above Most.
type Sweeps struct{ Least, Most int }

// DefaultSweeps gives small graphs the sweeps after which the cut hardly falls;
// from 400,000 nodes on the work is linear.
func DefaultSweeps() Sweeps { return Sweeps{Least: 10, Most: 200} }

// For returns the number of sweeps for a graph of n nodes.
func (s Sweeps) For(n int) int {
	const scale = 6325
	return int(max(float64(s.Least), min(float64(s.Most), scale/math.Sqrt(float64(max(1, n))))))
}

// Refine lowers the cut of an assignment of the hierarchy's graph in place, and
// returns the number of moves and exchanges it made. The assignment meets the
// quotas before and, within the slack, after, and never cuts more edges than it
// did.
//
// A multilevel annealing finds the shards, quotas are met exactly, and exchanges of
// two nodes of one class make up for what that cost.
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

// polish anneals exchanges at a low temperature, then descends. The largest
// graphs only descend: single moves have left nothing for exchanges to find.
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
		if saved >= 0 || draw.Float64() < gomath.Exp(float64(saved)/temperature) {
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
