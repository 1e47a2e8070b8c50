package baselines

import (
	"context"
	"encoding/binary"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/method"
)

// Independent assigns every node to a shard by a hash of its name only, so removing a node moves
// no other node. Sizes and classes are even only in expectation, and edges are cut as often as by
// chance.
type Independent struct {
	// Nodes are the names of the nodes. Without names, a node's number is used.
	Nodes []lethe.Pseudonym
}

// Even implements method.Method.
func (Independent) Even() bool { return false }

// Propose implements method.Method.
func (m Independent) Propose(ctx context.Context, r method.Request) (graph.Assignment, method.Course, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Course{}, err
	}
	a := make(graph.Assignment, r.Graph().N())
	for i := range a {
		var name [2]uint64
		if m.Nodes == nil {
			name[1] = uint64(i)
		} else {
			name[0], name[1] = binary.BigEndian.Uint64(m.Nodes[i][:8]), binary.BigEndian.Uint64(m.Nodes[i][8:16])
		}
		draw := lethe.NewDraw(r.Seed, "partition-independent", name[0], name[1])
		a[i] = lethe.ShardID(draw.IntN(r.Shards))
	}
	return a, method.Course{}, nil
}
