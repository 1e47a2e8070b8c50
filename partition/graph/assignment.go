package graph

import (
	"errors"
	"fmt"

	"lethe"
)

// Assignment is the shard of every node, by node position.
type Assignment []lethe.ShardID

// ErrAssignment marks an assignment that does not fit its graph: wrong length, or a shard that
// does not exist. The caller has mixed up two timesteps or two configurations and should load the
// assignment again.
var ErrAssignment = errors.New("assignment does not fit")

// Check reports whether the assignment gives each of n nodes one of the shards.
func (a Assignment) Check(n, shards int) error {
	if shards < 1 {
		return fmt.Errorf("%w: %d shards, want at least 1", ErrAssignment, shards)
	}
	if len(a) != n {
		return fmt.Errorf("%w: %d shards given for %d nodes", ErrAssignment, len(a), n)
	}
	for i, s := range a {
		if int64(s) >= int64(shards) {
			return fmt.Errorf("%w: node %d is in shard %d of %d", ErrAssignment, i, s, shards)
		}
	}
	return nil
}

// CutEdges counts the edges between two shards.
func (g *Graph) CutEdges(a Assignment) int {
	cut := 0
	for i := range g.N() {
		for _, j := range g.Neighbors(i) {
			if int(j) > i && a[i] != a[j] {
				cut++
			}
		}
	}
	return cut
}
