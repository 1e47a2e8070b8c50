package partition

import (
	"context"

	"lethe"
)

// randomMethod fills the quotas at random: the nodes are shuffled, then dealt
// class by class. With AssignPlain they are dealt without regard to their class.
type randomMethod struct{}

func (randomMethod) even(opts Options) bool { return opts.Assign == AssignQuotas }
func (randomMethod) sweeps() int            { return 0 }

func (randomMethod) propose(ctx context.Context, g *Graph, q *quotas, opts Options, _ *Report) (Assignment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.Assign == AssignPlain {
		return dealt(g.N(), opts.Shards, opts.Seed), nil
	}
	a := make(Assignment, g.N())
	left := q.room()
	next := make([]lethe.ShardID, g.NumClasses())
	for _, i := range shuffled(g.N(), lethe.NewDraw(opts.Seed, "partition-random")) {
		class := g.Class(i)
		for !left.take(class, next[class]) {
			next[class]++
		}
		a[i] = next[class]
	}
	return a, nil
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

// dealt gives n nodes to shards at random, sizes even to within one.
func dealt(n, shards int, seed uint64) Assignment {
	a := make(Assignment, n)
	for at, i := range shuffled(n, lethe.NewDraw(seed, "partition-deal")) {
		a[i] = lethe.ShardID(at % shards)
	}
	return a
}
