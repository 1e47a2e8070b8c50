package baselines

import (
	"cmp"
	"context"
	"slices"

	"lethe/lab/gpfbsr"
	"lethe/partition/graph"
	"lethe/partition/method"

	"lethe"
)

// BLPA is balanced label propagation (Chen et al., "Graph Unlearning", CCS 2022, Algorithm 1):
// nodes move to the shards of their neighbours, moves with the most neighbours first, and no
// shard exceeds a capacity. It ignores classes. The paper leaves ties open: here the node's own
// shard wins, and between nodes a keyed draw decides.
type BLPA struct {
	// Sweeps bounds the sweeps.
	Sweeps int
}

// Even implements method.Method.
func (BLPA) Even() bool { return false }

// defaultBLPASweeps is the default bound on the sweeps of BLPA.
const defaultBLPASweeps = 100

// wish is a move that a node proposes: to a shard in which it has count neighbours.
type wish struct {
	node  uint32
	to    lethe.ShardID
	count int
	// tie orders equal counts; it is 0 for the node's own shard.
	tie uint64
}

func (w wish) compare(x wish) int {
	return cmp.Or(cmp.Compare(x.count, w.count), cmp.Compare(w.tie, x.tie), cmp.Compare(w.node, x.node),
		cmp.Compare(w.to, x.to))
}

// Propose implements method.Method.
func (m BLPA) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	a, _, err := gpfbsr.Dealt{}.Propose(ctx, r)
	if err != nil {
		return nil, method.Course{}, err
	}
	course, err := m.propagate(ctx, r, a)
	return a, course, err
}

// propagate moves nodes of the assignment until no wished move is possible, or the sweeps are
// used up. Within a sweep, wishes refer to the shards at its start.
func (m BLPA) propagate(ctx context.Context, r method.Request, a graph.Assignment) (method.Course, error) {
	g, course := r.Graph(), method.Course{}
	sizes := make([]int, r.Shards)
	for _, s := range a {
		sizes[s]++
	}
	limit := eraserCapacity(g.N(), r.Shards)
	settled := make([]bool, g.N())
	counts := make([]int, r.Shards)
	var wishes []wish
	for !course.Converged && course.Iterations < m.Sweeps {
		if err := ctx.Err(); err != nil {
			return course, err
		}
		wishes = wishes[:0]
		for i := range a {
			draw := lethe.NewDraw(r.Seed, "blpa-tie", uint64(course.Iterations), uint64(i))
			wishes = appendWishes(wishes, g, a, i, counts, draw)
		}
		slices.SortFunc(wishes, wish.compare)
		course.Iterations++
		course.Converged = !grant(wishes, a, sizes, limit, settled)
	}
	return course, nil
}

// appendWishes adds a wish for every shard that holds a neighbour of node i.
// counts is scratch space, zero before and after.
func appendWishes(wishes []wish, g *graph.Graph, a graph.Assignment, i int, counts []int, draw *lethe.Draw) []wish {
	for _, j := range g.Neighbors(i) {
		counts[a[j]]++
	}
	for _, j := range g.Neighbors(i) {
		to := a[j]
		if counts[to] == 0 {
			continue // already has a wish
		}
		w := wish{node: uint32(i), to: to, count: counts[to]}
		if to != a[i] {
			w.tie = 1 + draw.Uint64()>>1
		}
		wishes = append(wishes, w)
		counts[to] = 0
	}
	return wishes
}

// grant fulfils at most one wish per node, in order, while shards have room, and reports whether
// a node moved. settled is scratch space.
func grant(wishes []wish, a graph.Assignment, sizes []int, limit int, settled []bool) bool {
	clear(settled)
	moved := false
	for _, w := range wishes {
		from := a[w.node]
		switch {
		case settled[w.node]:
		case w.to == from:
			settled[w.node] = true
		case sizes[w.to] < limit:
			settled[w.node], moved = true, true
			sizes[from]--
			sizes[w.to]++
			a[w.node] = w.to
		}
	}
	return moved
}

// eraserCapacity is the capacity of shards in blpa and bekm: ceil(n/v + 0.005 (n - n/v)), an even
// share plus one in 200 of the other nodes, as in the code of Chen et al.
func eraserCapacity(n, shards int) int {
	// In units of 1/(200 v) this is exact.
	return (200*n + n*(shards-1) + 200*shards - 1) / (200 * shards)
}
