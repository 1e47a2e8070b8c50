// Package graphtest draws graphs for the tests of scoring.
package graphtest

import (
	"slices"

	"pgregory.net/rapid"

	"lethe"
)

// Hubs joins each node to one drawn in proportion to its edges so far, and
// adds edges between random nodes: the shape of a timestep of payments.
func Hubs(n, edges int, seed uint64) []lethe.Edge {
	draw := lethe.NewDraw(seed, "test/hubs")
	out := []lethe.Edge{{A: 0, B: 1}}
	for i := 2; i < n; i++ {
		e := out[draw.IntN(len(out))]
		out = append(out, lethe.Edge{A: []uint32{e.A, e.B}[draw.IntN(2)], B: uint32(i)})
	}
	for len(out) < edges {
		a, b := draw.IntN(n), draw.IntN(n)
		if a != b {
			out = append(out, lethe.Edge{A: uint32(a), B: uint32(b)})
		}
	}
	return out
}

// Even has edges between random nodes, without hubs.
func Even(n, edges int, seed uint64) []lethe.Edge {
	draw := lethe.NewDraw(seed, "test/even")
	var out []lethe.Edge
	for len(out) < edges {
		a, b := draw.IntN(n), draw.IntN(n)
		if a != b {
			out = append(out, lethe.Edge{A: uint32(a), B: uint32(b)})
		}
	}
	return out
}

// Path joins every node to the next.
func Path(n int) []lethe.Edge {
	out := make([]lethe.Edge, 0, n)
	for i := range n - 1 {
		out = append(out, lethe.Edge{A: uint32(i), B: uint32(i + 1)})
	}
	return out
}

// Stars has k stars of p leaves, their centres joined to node 0: the
// eigenvalues ±sqrt(p) come k-1 times each.
func Stars(k, p int) (int, []lethe.Edge) {
	out := make([]lethe.Edge, 0, k*(p+1))
	next := uint32(1)
	for range k {
		centre := next
		out = append(out, lethe.Edge{A: 0, B: centre})
		next++
		for range p {
			out = append(out, lethe.Edge{A: centre, B: next})
			next++
		}
	}
	return int(next), out
}

// Relabel renumbers the nodes.
func Relabel(edges []lethe.Edge, to []int) []lethe.Edge {
	out := make([]lethe.Edge, len(edges))
	for i, e := range edges {
		out[i] = lethe.Edge{A: uint32(to[e.A]), B: uint32(to[e.B])}
	}
	return out
}

// Permutation is a drawn order of n numbers.
func Permutation(n int, seed uint64) []int {
	draw := lethe.NewDraw(seed, "test/permutation")
	out := make([]int, n)
	for i := range out {
		j := draw.IntN(i + 1)
		out[i] = out[j]
		out[j] = i
	}
	return out
}

// Graph has N nodes and undirected edges.
type Graph struct {
	N     int
	Edges []lethe.Edge
}

// Graphs draws small graphs of every kind: empty, isolated nodes, several
// components, symmetric ones with repeated eigenvalues.
func Graphs(most int) *rapid.Generator[Graph] {
	return rapid.Custom(func(rt *rapid.T) Graph {
		g := Graph{N: rapid.IntRange(0, most).Draw(rt, "nodes")}
		if g.N < 2 {
			return g
		}
		for range rapid.IntRange(0, 2*g.N).Draw(rt, "edges") {
			a := rapid.IntRange(0, g.N-1).Draw(rt, "a")
			b := rapid.IntRange(0, g.N-1).Draw(rt, "b")
			if a != b {
				g.Edges = append(g.Edges, lethe.Edge{A: uint32(a), B: uint32(b)})
			}
		}
		g.Edges = slices.Clip(g.Edges)
		return g
	})
}
