package protocol

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/trainer/kernels"
)

// Every shard holds its training nodes and all test nodes without a label, and the
// edges among them; the partition is that of the training graph.
func TestEveryShardHoldsTheTestNodes(t *testing.T) {
	g := &Graph{Columns: 1, Classes: 2}
	draw := lethe.NewDraw(1, "shared")
	for i := range 60 {
		g.Labels, g.Features = append(g.Labels, i%2), append(g.Features, float32(i))
	}
	for a := range 60 {
		for b := a + 1; b < 60; b++ {
			if draw.IntN(6) == 0 {
				g.Edges = append(g.Edges, lethe.Edge{A: uint32(a), B: uint32(b)})
			}
		}
	}
	s := Defaults("sage")
	s.Shards, s.Repair, s.Partition.Method = 4, repair.None, partition.MethodRandom
	inductive, err := newGraphRun(g, s, Runtime{Kernels: kernels.Default(), Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, inductive.cut(t.Context(), &Outcome{}))
	s.Transductive, s.SharedTest = true, true
	shared, err := newGraphRun(g, s, inductive.r)
	require.NoError(t, err)
	require.NoError(t, shared.cut(t.Context(), &Outcome{}))
	require.Equal(t, inductive.assignment, shared.assignment)
	for shard, slice := range shared.slices {
		require.Len(t, slice.Nodes, len(inductive.slices[shard].Nodes)+len(shared.split.Test))
		holds, rows := make(map[int]bool), make([]int, len(slice.Nodes))
		for i, p := range slice.Nodes {
			rows[i] = int(binary.BigEndian.Uint64(p[8:]))
			holds[rows[i]] = true
			require.Equal(t, g.Features[rows[i]], slice.Row(i)[0])
			require.Equal(t, shared.split.isTest[rows[i]], slice.Labels[i] == lethe.Unknown)
		}
		want := make(map[lethe.Edge]bool)
		for _, e := range g.Edges {
			if holds[int(e.A)] && holds[int(e.B)] {
				want[e] = true
			}
		}
		got := make(map[lethe.Edge]bool)
		for _, e := range slice.Edges {
			require.Less(t, e.A, e.B)
			a, b := rows[e.A], rows[e.B]
			got[lethe.Edge{A: uint32(min(a, b)), B: uint32(max(a, b))}] = true
		}
		require.Equal(t, want, got, "shard %d", shard)
		require.Len(t, slice.Edges, len(got))
	}
}
