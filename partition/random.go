package partition

import (
	"context"

	"lethe"
)

// randomMethod fills the quotas at random: the nodes are shuffled, then dealt
// class by class.
type randomMethod struct{}

func (randomMethod) propose(ctx context.Context, g *Graph, q *quotas, opts Options, _ *Report) (Assignment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	order := make([]int, g.N())
	for i := range order {
		order[i] = i
	}
	draw := lethe.NewDraw(opts.Seed, "partition-random")
	for i := len(order) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	a := make(Assignment, g.N())
	left := q.room()
	next := make([]lethe.ShardID, g.NumClasses())
	for _, i := range order {
		class := g.Class(i)
		for !left.take(class, next[class]) {
			next[class]++
		}
		a[i] = next[class]
	}
	return a, nil
}
