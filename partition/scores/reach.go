package scores

import "lethe/partition/graph"

// Reach is the mean number of shards that must be retrained when one node is erased.
type Reach struct {
	// Shard counts the node's own shard, the only one affected by scope "shard".
	Shard float64 `json:"shard"`
	// Stubs counts the node's own shard and those with a stub for it, which scope "stubs" affects.
	Stubs float64 `json:"stubs"`
	// Partition counts all shards: at scope "partition" every node may move.
	Partition float64 `json:"partition"`
}

// reach computes the mean reach of an erasure; zero without nodes.
func reach(g *graph.Graph, a graph.Assignment, shards int) Reach {
	if g.N() == 0 {
		return Reach{}
	}
	// seenBy[s] is one more than the last node that reached shard s.
	seenBy := make([]int, shards)
	total := 0
	for i := range g.N() {
		seenBy[a[i]] = i + 1
		total++
		for _, j := range g.Neighbors(i) {
			if seenBy[a[j]] != i+1 {
				seenBy[a[j]] = i + 1
				total++
			}
		}
	}
	return Reach{Shard: 1, Stubs: float64(total) / float64(g.N()), Partition: float64(shards)}
}
