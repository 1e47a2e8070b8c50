package gpfb

import (
	"cmp"
	"slices"

	"lethe/partition/graph"

	"lethe"
)

// assignByRegret gives every node the nearest shard with room for its class. Nodes choose in the
// order of their regret, the extra distance of the second best shard over the best; in a tie the
// lower position chooses first. distance is n × v.
func assignByRegret(g *graph.Graph, distance []float64, q *graph.Quotas) graph.Assignment {
	v := q.Shards()
	a := make(graph.Assignment, g.N())
	left := q.Room()
	for _, i := range regretOrder(distance, v) {
		// The quotas of a class add up to its nodes, so there is room.
		a[i] = lethe.ShardID(nearestWithRoom(distance[i*v:(i+1)*v], left.Of(g.Class(i)), 1))
		left.Take(g.Class(i), a[i])
	}
	return a
}

// regretOrder lists the rows of distance, of v shards each, by descending regret, ties by
// position.
func regretOrder(distance []float64, v int) []int {
	regret := make([]float64, len(distance)/v)
	order := make([]int, len(regret))
	for i := range order {
		order[i] = i
		regret[i] = regretOf(distance[i*v : (i+1)*v])
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(regret[j], regret[i]), cmp.Compare(i, j))
	})
	return order
}

// regretOf returns the second smallest value minus the smallest.
func regretOf(row []float64) float64 {
	best, second := row[0], row[1]
	if second < best {
		best, second = second, best
	}
	for _, d := range row[2:] {
		switch {
		case d < best:
			best, second = d, best
		case d < second:
			second = d
		}
	}
	return second - best
}

// nearestWithRoom returns the shard of the smallest distance among those with room for size
// nodes, the lowest in a tie, or -1.
func nearestWithRoom(distance []float64, left []int, size int) int {
	best := -1
	for s, d := range distance {
		if left[s] >= size && (best < 0 || d < distance[best]) {
			best = s
		}
	}
	return best
}
