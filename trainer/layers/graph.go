package layers

import (
	"math"
	"slices"

	"lethe"
)

// Graph is an undirected graph in compressed sparse rows, with and without a loop at every node.
type Graph struct {
	Nodes   int
	starts  []int
	targets []uint32
	// loopStarts and loopTargets list the neighbours and the node itself.
	loopStarts  []int
	loopTargets []uint32
	// normalised holds the values of S = (D+I)^-1/2 (A+I) (D+I)^-1/2 in the order of loopTargets,
	// and share one over the target's degree in the order of targets.
	normalised, share []float32
	// all lists the nodes.
	all []uint32
}

// NewGraph lists every edge at both ends. Positions must be below nodes, and no edge may repeat.
func NewGraph(nodes int, edges []lethe.Edge) *Graph {
	g := &Graph{Nodes: nodes}
	g.starts, g.targets = neighbours(nodes, edges, false)
	g.loopStarts, g.loopTargets = neighbours(nodes, edges, true)
	scale := make([]float32, nodes)
	for i := range scale {
		scale[i] = float32(1 / math.Sqrt(float64(len(g.closed(i)))))
	}
	g.all = make([]uint32, nodes)
	for i := range g.all {
		g.all[i] = uint32(i)
	}
	g.normalised = make([]float32, 0, len(g.loopTargets))
	for i := range nodes {
		for _, j := range g.closed(i) {
			g.normalised = append(g.normalised, scale[i]*scale[j])
		}
	}
	g.share = make([]float32, 0, len(g.targets))
	for _, j := range g.targets {
		g.share = append(g.share, 1/float32(len(g.of(int(j)))))
	}
	return g
}

func neighbours(nodes int, edges []lethe.Edge, loops bool) (starts []int, targets []uint32) {
	starts = make([]int, nodes+1)
	for _, e := range edges {
		starts[e.A+1]++
		starts[e.B+1]++
	}
	for i := range nodes {
		starts[i+1] += starts[i]
		if loops {
			starts[i+1]++
		}
	}
	targets = make([]uint32, starts[nodes])
	next := slices.Clone(starts)
	add := func(at, target uint32) {
		targets[next[at]] = target
		next[at]++
	}
	for _, e := range edges {
		add(e.A, e.B)
		add(e.B, e.A)
	}
	for i := range nodes {
		if loops {
			add(uint32(i), uint32(i))
		}
		slices.Sort(targets[starts[i]:starts[i+1]])
	}
	return starts, targets
}

// of returns the neighbours of node i, ascending.
func (g *Graph) of(i int) []uint32 { return g.targets[g.starts[i]:g.starts[i+1]] }

// closed returns the neighbours of node i and i itself, ascending.
func (g *Graph) closed(i int) []uint32 { return g.loopTargets[g.loopStarts[i]:g.loopStarts[i+1]] }
