package protocol

import (
	"encoding/binary"
	"slices"

	"lethe/partition/repair"

	"lethe"
)

// withTruth turns the stubs of the ablation into nodes of their own with the
// true neighbours' features, without a label and with no edge but the one to
// their owner, which is how training sees a stub.
func withTruth(t repair.TruthSlice) *lethe.Slice {
	out := *t.Slice
	out.Stubs = []lethe.Stub{}
	out.Features = append(slices.Clone(out.Features), t.StubFeatures...)
	// Appending must not write behind the slices of the argument.
	out.Nodes, out.Labels, out.Edges = slices.Clip(out.Nodes), slices.Clip(out.Labels), slices.Clone(out.Edges)
	for i, stub := range t.Stubs {
		var p lethe.Pseudonym
		binary.BigEndian.PutUint64(p[:8], 1<<63) // above the pseudonyms of rows
		binary.BigEndian.PutUint64(p[8:], uint64(i))
		out.Edges = append(out.Edges, lethe.Edge{A: stub.Owner, B: uint32(len(out.Nodes))})
		out.Nodes = append(out.Nodes, p)
		out.Labels = append(out.Labels, lethe.Unknown)
	}
	slices.SortFunc(out.Edges, lethe.Edge.Compare)
	return &out
}
