package protocol

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition"
)

// With true neighbours every node of every shard has the neighbourhood that it
// has in the whole graph, feature by feature.
func TestTruthCompletesEveryNeighbourhood(t *testing.T) {
	const nodes, columns, shards = 40, 2, 4
	g := &Graph{Columns: columns, Labels: make([]int, nodes), Classes: 1}
	draw := lethe.NewDraw(1, "truth")
	all := make([]int, nodes)
	for i := range nodes {
		all[i] = i
		g.Features = append(g.Features, float32(i), draw.Float32())
		for j := range i {
			if draw.IntN(8) == 0 {
				g.Edges = append(g.Edges, lethe.Edge{A: uint32(j), B: uint32(i)})
			}
		}
	}
	slices.SortFunc(g.Edges, lethe.Edge.Compare)
	snap := g.snapshot(all, func(int) bool { return false })
	s := Defaults("sage")
	s.Shards, s.Repair, s.Partition.Method = shards, RepairTruth, partition.MethodRandom
	a, shape, err := s.assign(t.Context(), snap, g.Classes, nil)
	require.NoError(t, err)
	require.Greater(t, shape.EdgeCut, 0.5)
	cut, err := s.slices(snap, lethe.NoTimestep, a)
	require.NoError(t, err)

	want := neighbourhoods(g.Features, columns, g.Edges)
	seen := 0
	for shard, slice := range cut {
		got := neighbourhoods(slice.Features, columns, slice.Edges)
		require.Empty(t, slice.Stubs)
		at := 0
		for node := range nodes {
			if a[node] != lethe.ShardID(shard) {
				continue
			}
			require.Equal(t, snap.Row(node), slice.Row(at))
			require.Equal(t, want[uint32(node)], got[uint32(at)], "node %d in shard %d", node, shard)
			require.NotEqual(t, lethe.Unknown, slice.Labels[at])
			at++
			seen++
		}
		for ; at < len(slice.Nodes); at++ {
			require.Equal(t, lethe.Unknown, slice.Labels[at], "another shard's node teaches no label")
		}
	}
	require.Equal(t, nodes, seen)
}

// neighbourhoods lists the features of every node's neighbours, ordered by the
// first.
func neighbourhoods(features []float32, columns int, edges []lethe.Edge) map[uint32][][]float32 {
	out := make(map[uint32][][]float32)
	row := func(i uint32) []float32 { return features[int(i)*columns : (int(i)+1)*columns] }
	for _, e := range edges {
		out[e.A] = append(out[e.A], row(e.B))
		out[e.B] = append(out[e.B], row(e.A))
	}
	for _, rows := range out {
		slices.SortFunc(rows, slices.Compare)
	}
	return out
}
