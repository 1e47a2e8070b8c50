package graphtest

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
)

// Draw draws a graph with up to maxNodes nodes, possibly with empty classes and isolated nodes;
// its edges are in any order and direction, and may repeat.
func Draw(rt *rapid.T, maxNodes int) *graph.Graph {
	return DrawOf(rt, rapid.IntRange(0, maxNodes).Draw(rt, "nodes"))
}

// DrawOf is Draw for a graph with n nodes.
func DrawOf(rt *rapid.T, n int) *graph.Graph {
	numClasses := rapid.IntRange(1, 4).Draw(rt, "classes")
	classes := rapid.SliceOfN(rapid.Uint8Range(0, uint8(numClasses-1)), n, n).Draw(rt, "class")
	g, err := graph.New(n, DrawEdges(rt, n), classes, numClasses)
	require.NoError(rt, err)
	return g
}

// DrawEdges draws edges between n nodes, loops excepted.
func DrawEdges(rt *rapid.T, n int) []lethe.Edge {
	if n < 2 {
		return nil
	}
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) lethe.Edge {
		a := rapid.IntRange(0, n-1).Draw(rt, "a")
		b := (a + rapid.IntRange(1, n-1).Draw(rt, "step")) % n
		return lethe.Edge{A: uint32(a), B: uint32(b)}
	}), 0, 3*n).Draw(rt, "edges")
}

// DrawAssignment draws a shard for each of n nodes.
func DrawAssignment(rt *rapid.T, n, shards int) graph.Assignment {
	a := make(graph.Assignment, n)
	for i := range a {
		a[i] = lethe.ShardID(rapid.IntRange(0, shards-1).Draw(rt, "shard"))
	}
	return a
}

// DrawClusters gives every node one of a few clusters, numbered as Contract requires.
func DrawClusters(rt *rapid.T, n int) (cluster []uint32, count int) {
	cluster = make([]uint32, n)
	for i := range cluster {
		cluster[i] = uint32(rapid.IntRange(0, min(n-1, 5)).Draw(rt, "cluster"))
	}
	numbers := map[uint32]uint32{}
	for i, c := range cluster {
		if _, ok := numbers[c]; !ok {
			numbers[c] = uint32(len(numbers))
		}
		cluster[i] = numbers[c]
	}
	return cluster, len(numbers)
}
