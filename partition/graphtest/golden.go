package graphtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// Limits for float64 code; those of the file are for float32.
const (
	goldenRelative = 1e-9
	goldenAbsolute = 1e-10
)

// RequireClose compares numbers within the limits of double precision.
func RequireClose(t *testing.T, want, got []float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		limit := goldenAbsolute + goldenRelative*math.Abs(want[i])
		require.LessOrEqual(t, math.Abs(got[i]-want[i]), limit, "%s[%d]: got %v, want %v", what, i, got[i], want[i])
	}
}

// ListedEdges turns an edge index that lists both directions into edges.
func ListedEdges(index [2][]uint32) []lethe.Edge {
	edges := make([]lethe.Edge, len(index[0]))
	for k := range edges {
		edges[k] = lethe.Edge{A: index[0][k], B: index[1][k]}
	}
	return edges
}

// ClassesOf converts the classes of a file into those of a graph.
func ClassesOf(y []int) []uint8 {
	classes := make([]uint8, len(y))
	for i := range y {
		classes[i] = uint8(y[i])
	}
	return classes
}
