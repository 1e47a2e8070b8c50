package baselines

import (
	"context"

	"lethe/partition/graph"
	"lethe/partition/method"

	"lethe"
)

// Random fills the quotas at random: the nodes are shuffled, then distributed class by class.
type Random struct{}

// Even implements method.Method.
func (Random) Even() bool { return true }

// Propose implements method.Method.
func (Random) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Course{}, err
	}
	g := r.Graph()
	a := make(graph.Assignment, g.N())
	left := graph.NewQuotas(g, r.Shards).Room()
	next := make([]lethe.ShardID, g.NumClasses())
	for _, i := range Shuffled(g.N(), lethe.NewDraw(r.Seed, "partition-random")) {
		class := g.Class(i)
		for !left.Take(class, next[class]) {
			next[class]++
		}
		a[i] = next[class]
	}
	return a, method.Course{}, nil
}

// Shuffled returns 0..n-1 in a drawn order.
func Shuffled(n int, draw *lethe.Draw) []int {
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
