package protocol

import (
	"encoding/binary"
	"slices"

	"lethe/partition/graph"
	"lethe/partition/repair"

	"lethe"
)

// RepairTruth fills in a missing neighbour with the neighbour's own features. It is an ablation that
// measures the value of a perfect repair: the stub holds another shard's data, so an erasure
// would affect that shard too.
const RepairTruth = "truth"

// Repairs are the ways to fill in a missing neighbour.
func Repairs() []string { return append(repair.Methods(), RepairTruth) }

// truthSlices are slices with a node of its own for every missing neighbour, with the true features.
func truthSlices(
	s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment, shards int,
) ([]*lethe.Slice, error) {
	out, err := repair.Slices(s, previous, a, shards, repair.Config{Method: repair.Mirror, Tau: 1})
	if err != nil {
		return nil, err
	}
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, err
	}
	features := make([][]float32, shards)
	// Stubs are in this order, too.
	for i, shard := range a {
		for _, j := range g.Neighbors(i) {
			if a[j] != shard {
				features[shard] = append(features[shard], s.Row(int(j))...)
			}
		}
	}
	for shard := range out {
		out[shard] = withTruth(out[shard], features[shard])
	}
	return out, nil
}

// withTruth turns the stubs of the ablation into nodes of their own with the
// true neighbours' features, without a label and with no edge but the one to
// their owner, which is how training sees a stub.
func withTruth(s *lethe.Slice, features []float32) *lethe.Slice {
	out := *s
	out.Stubs = []lethe.Stub{}
	out.Features = append(slices.Clone(out.Features), features...)
	for i, stub := range s.Stubs {
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
