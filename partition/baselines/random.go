package baselines

import (
	"context"

	"lethe/partition/graph"
	"lethe/partition/method"

	"lethe"
)

// Random fills the quotas at random: the nodes are shuffled, then distributed class by class.
type Random struct {
	// Plain ignores classes: only the sizes are even.
	Plain bool
}

// Even implements method.Method.
func (m Random) Even() bool { return !m.Plain }

// Propose implements method.Method.
func (m Random) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Course{}, err
	}
	g := r.Graph()
	if m.Plain {
		return dealt(g.N(), r.Shards, r.Seed), method.Course{}, nil
	}
	a := make(graph.Assignment, g.N())
	left := graph.NewQuotas(g, r.Shards).Room()
	next := make([]lethe.ShardID, g.NumClasses())
	for _, i := range shuffled(g.N(), lethe.NewDraw(r.Seed, "partition-random")) {
		class := g.Class(i)
		for !left.Take(class, next[class]) {
			next[class]++
		}
		a[i] = next[class]
	}
	return a, method.Course{}, nil
}

// shuffled returns 0..n-1 in a drawn order.
func shuffled(n int, draw *lethe.Draw) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := len(order) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// dealt distributes n nodes over shards at random; sizes differ by at most one.
func dealt(n, shards int, seed uint64) graph.Assignment {
	a := make(graph.Assignment, n)
	for at, i := range shuffled(n, lethe.NewDraw(seed, "partition-deal")) {
		a[i] = lethe.ShardID(at % shards)
	}
	return a
}
