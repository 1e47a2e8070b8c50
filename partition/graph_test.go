package partition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// drawGraph draws a graph with up to maxNodes nodes, empty classes and isolated
// nodes included; its edges come in any order, either way round and repeated.
func drawGraph(rt *rapid.T, maxNodes int) *Graph {
	n := rapid.IntRange(0, maxNodes).Draw(rt, "nodes")
	numClasses := rapid.IntRange(1, 4).Draw(rt, "classes")
	classes := rapid.SliceOfN(rapid.Uint8Range(0, uint8(numClasses-1)), n, n).Draw(rt, "class")
	g, err := NewGraph(n, drawEdges(rt, n), classes, numClasses)
	require.NoError(rt, err)
	return g
}

func drawEdges(rt *rapid.T, n int) []lethe.Edge {
	if n < 2 {
		return nil
	}
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) lethe.Edge {
		a := rapid.IntRange(0, n-1).Draw(rt, "a")
		b := (a + rapid.IntRange(1, n-1).Draw(rt, "step")) % n
		return lethe.Edge{A: uint32(a), B: uint32(b)}
	}), 0, 3*n).Draw(rt, "edges")
}

func TestGraphHoldsExactlyItsEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(rt, "nodes")
		edges := drawEdges(rt, n)
		g, err := NewGraph(n, edges, make([]uint8, n), 1)
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
				require.Equal(rt, joined, g.adjacent(i, j))
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
			_, err := NewGraph(c.nodes, c.edges, c.classes, c.numClasses)
			require.ErrorContains(t, err, c.want)
		})
	}
}
