package layers

import (
	"slices"

	"lethe"
)

// Graph is an undirected graph in compressed sparse rows: the neighbours of node i, ascending, are
// Targets[Starts[i]:Starts[i+1]].
type Graph struct {
	Nodes   int
	Starts  []int
	Targets []uint32
}

// NewGraph lists every edge at both ends. Positions must be below nodes, and no edge may repeat.
func NewGraph(nodes int, edges []lethe.Edge) *Graph {
	g := &Graph{Nodes: nodes, Starts: make([]int, nodes+1)}
	for _, e := range edges {
		g.Starts[e.A+1]++
		g.Starts[e.B+1]++
	}
	for i := range nodes {
		g.Starts[i+1] += g.Starts[i]
	}
	g.Targets = make([]uint32, g.Starts[nodes])
	next := slices.Clone(g.Starts)
	for _, e := range edges {
		g.Targets[next[e.A]], g.Targets[next[e.B]] = e.B, e.A
		next[e.A]++
		next[e.B]++
	}
	for i := range nodes {
		slices.Sort(g.Of(i))
	}
	return g
}

// Of returns the neighbours of node i, ascending.
func (g *Graph) Of(i int) []uint32 { return g.Targets[g.Starts[i]:g.Starts[i+1]] }
