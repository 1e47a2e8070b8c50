package protocol

import (
	"encoding/binary"
	"slices"

	"lethe"
	"lethe/partition"
)

// addTruth joins to every node, once per cut edge, a copy of the true neighbour:
// its features, no label and no other edge. That is what a stub stands for, and
// the most that repair could give back of one hop.
func addTruth(out *lethe.Slice, snap *lethe.Snapshot, a partition.Assignment) {
	position := make(map[uint32]uint32, len(out.Nodes))
	for i, n := range snap.Nodes {
		if a[i] == out.Shard {
			at, _ := slices.BinarySearchFunc(out.Nodes, n.Pseudonym, lethe.Pseudonym.Compare)
			position[uint32(i)] = uint32(at)
		}
	}
	real := len(out.Nodes)
	add := func(owner, missing uint32) {
		var p lethe.Pseudonym
		binary.BigEndian.PutUint64(p[:8], 1<<63) // above the pseudonyms of rows
		binary.BigEndian.PutUint64(p[8:], uint64(len(out.Nodes)-real))
		out.Edges = append(out.Edges, lethe.Edge{A: owner, B: uint32(len(out.Nodes))})
		out.Nodes = append(out.Nodes, p)
		out.Labels = append(out.Labels, lethe.Unknown)
		out.Features = append(out.Features, snap.Row(int(missing))...)
	}
	for _, e := range snap.Undirected() {
		ownerA, hasA := position[e.A]
		ownerB, hasB := position[e.B]
		if hasA && !hasB {
			add(ownerA, e.B)
		}
		if hasB && !hasA {
			add(ownerB, e.A)
		}
	}
	slices.SortFunc(out.Edges, lethe.Edge.Compare)
}
