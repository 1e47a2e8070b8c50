package graph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

func TestGraphHoldsExactlyItsEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(rt, "nodes")
		edges := graphtest.DrawEdges(rt, n)
		g, err := graph.New(n, edges, make([]uint8, n), 1)
		require.NoError(rt, err)
		want := map[lethe.Edge]bool{}
		for _, e := range edges {
			want[lethe.Edge{A: min(e.A, e.B), B: max(e.A, e.B)}] = true
		}
		require.Equal(rt, n, g.N())
		require.Equal(rt, len(want), g.NumEdges())
		for i := range n {
			require.True(rt, slices.IsSorted(g.Neighbors(i)))
			for j := range n {
				joined := want[lethe.Edge{A: uint32(min(i, j)), B: uint32(max(i, j))}]
				require.Equal(rt, joined, slices.Contains(g.Neighbors(i), uint32(j)))
				require.Equal(rt, joined, g.Adjacent(i, j))
			}
		}
	})
}

func TestGraphNamesWhatIsWrong(t *testing.T) {
	two := []uint8{0, 1}
	for name, c := range map[string]struct {
		nodes, numClasses int
		edges             []lethe.Edge
		classes           []uint8
		want              string
	}{
		"bound":     {2, 2, []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}}, two, "edge 1 joins 1 and 2, want both below 2"},
		"loop":      {2, 2, []lethe.Edge{{A: 1, B: 1}}, two, "edge 0 joins node 1 to itself"},
		"class":     {2, 1, nil, two, "node 1 has class 1, want below 1"},
		"classes":   {3, 2, nil, two, "2 classes for 3 nodes"},
		"negative":  {-1, 2, nil, nil, "-1 nodes"},
		"too many":  {2, 257, nil, two, "257 classes, want 0 to 256"},
		"edge of 0": {0, 0, []lethe.Edge{{A: 0, B: 1}}, nil, "edge 0 joins 0 and 1, want both below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := graph.New(c.nodes, c.edges, c.classes, c.numClasses)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestIsolatedNodesStayOutOfTheEmbedding(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 30)
		c := g.WithoutIsolated()
		require.Equal(rt, g.N(), len(c.Kept)+len(c.Isolated))
		require.Equal(rt, g.NumEdges(), c.Graph.NumEdges())
		for at, i := range c.Kept {
			require.Equal(rt, g.Class(int(i)), c.Graph.Class(at))
			require.NotEmpty(rt, c.Graph.Neighbors(at))
			for k, j := range c.Graph.Neighbors(at) {
				require.Equal(rt, g.Neighbors(int(i))[k], c.Kept[j])
			}
		}
		for _, i := range c.Isolated {
			require.Empty(rt, g.Neighbors(int(i)))
		}
	})
}
