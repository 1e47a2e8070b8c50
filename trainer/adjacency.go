package trainer

import (
	"slices"

	"lethe"
)

// adjacency is an undirected graph in compressed sparse rows: the neighbours of
// node i are targets[starts[i]:starts[i+1]], ascending.
type adjacency struct {
	starts  []int
	targets []uint32
}

// newAdjacency lists every edge at both of its ends. Positions must be below
// the number of nodes.
func newAdjacency(nodes int, edges []lethe.Edge) adjacency {
	a := adjacency{starts: make([]int, nodes+1), targets: make([]uint32, 2*len(edges))}
	for _, e := range edges {
		a.starts[e.A+1]++
		a.starts[e.B+1]++
	}
	for i := range nodes {
		a.starts[i+1] += a.starts[i]
	}
	next := slices.Clone(a.starts)
	for _, e := range edges {
		a.targets[next[e.A]], a.targets[next[e.B]] = e.B, e.A
		next[e.A]++
		next[e.B]++
	}
	for i := range nodes {
		slices.Sort(a.of(i))
	}
	return a
}

// of returns the neighbours of node i.
func (a adjacency) of(i int) []uint32 { return a.targets[a.starts[i]:a.starts[i+1]] }
