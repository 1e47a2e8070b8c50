package main

import (
	"slices"

	"lethe"
	"lethe/trainer/group"
)

// touched returns how many groups of a component learn anew when a node is erased at
// scope stubs, on average over the nodes of all timesteps: the one that holds it and
// those that hold what stands for it, a stub or a mean of neighbours.
func touched(steps []*step, groups, shards int) float64 {
	sum, nodes := 0, 0
	for _, s := range steps {
		neighbours := make([][]lethe.ShardID, len(s.owners))
		for _, e := range s.joined.graph.Edges {
			neighbours[e.A] = append(neighbours[e.A], s.owners[e.B])
			neighbours[e.B] = append(neighbours[e.B], s.owners[e.A])
		}
		for node, owner := range s.owners {
			held := []int{group.Of(owner, groups, shards)}
			for _, other := range neighbours[node] {
				held = append(held, group.Of(other, groups, shards))
			}
			slices.Sort(held)
			sum += len(slices.Compact(held))
		}
		nodes += len(s.owners)
	}
	return float64(sum) / float64(max(nodes, 1))
}
