package graphtest

import (
	"slices"

	"lethe"
	"lethe/partition/graph"
)

// Affected returns, ascending, the shards whose slices change when a node is removed and the
// others keep their shards: its own, and those that hold a stub for it. node must be a position
// in the snapshot, and a must fit the snapshot.
func Affected(s *lethe.Snapshot, a graph.Assignment, node int) []lethe.ShardID {
	shards := []lethe.ShardID{a[node]}
	for _, p := range s.Payments {
		switch uint32(node) {
		case p.Source:
			shards = append(shards, a[p.Target])
		case p.Target:
			shards = append(shards, a[p.Source])
		}
	}
	slices.Sort(shards)
	return slices.Compact(shards)
}
