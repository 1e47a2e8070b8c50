package graphtest

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/planted"
	"lethe/partition/graph"
	"lethe/partition/scores"
)

// Communities returns groups of the given size: cycles with chords inside, and a
// single edge from each to the next.
func Communities(t testing.TB, groups, size int) *graph.Graph {
	t.Helper()
	var edges []lethe.Edge
	classes := make([]uint8, groups*size)
	for i := range classes {
		classes[i] = uint8(i % 3)
		group, at := i/size*size, i%size
		for _, step := range []int{1, 2, 5} {
			edges = append(edges, lethe.Edge{A: uint32(i), B: uint32(group + (at+step)%size)})
		}
		if at == 0 {
			edges = append(edges, lethe.Edge{A: uint32(i), B: uint32((i + size) % len(classes))})
		}
	}
	g, err := graph.New(len(classes), edges, classes, 3)
	require.NoError(t, err)
	return g
}

// Planted draws a graph with planted communities.
func Planted(t testing.TB, nodes int) *graph.Graph {
	t.Helper()
	spec := planted.Large(nodes, 1)
	edges, classes := spec.Graph()
	g, err := graph.New(nodes, edges, classes, len(spec.ClassShares))
	require.NoError(t, err)
	return g
}

// RequireEven checks invariant I3: shard sizes differ by at most one, and so do
// the counts of every class.
func RequireEven(t require.TestingT, s scores.Scores) {
	require.LessOrEqual(t, slices.Max(s.Sizes)-slices.Min(s.Sizes), 1, "shard sizes")
	for class := range s.ClassCounts[0] {
		low, high := math.MaxInt, 0
		for _, counts := range s.ClassCounts {
			low, high = min(low, counts[class]), max(high, counts[class])
		}
		require.LessOrEqual(t, high-low, 1, "class %d", class)
	}
}
