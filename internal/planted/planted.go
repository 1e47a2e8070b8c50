// Package planted generates graphs with planted communities, so that the ideal result of a
// partitioner is known.
package planted

import (
	"sort"

	"lethe"
)

// Spec describes a graph with planted communities.
type Spec struct {
	Nodes int
	// Edges is the number of edges drawn. Loops are redrawn; a pair drawn twice is listed twice and
	// counts once in a graph.
	Edges int
	// Communities is the number of communities, equal in size up to one node.
	Communities int
	// Inside is the share of edges with both ends in one community.
	Inside float64
	// ClassShares are the probabilities of the classes. They add up to one.
	ClassShares []float64
	Seed        uint64
}

// Large is the graph for comparing partitioners, usually with a million nodes: five edges per
// node, a community per thousand nodes, four of five edges inside, and rare classes as in fraud.
func Large(nodes int, seed uint64) Spec {
	return Spec{
		Nodes: nodes, Edges: 5 * nodes, Communities: max(1, nodes/1000),
		Inside: 0.8, ClassShares: []float64{0.21, 0.02, 0.77}, Seed: seed,
	}
}

// Graph draws the edges and the class of every node. Communities are scattered over the
// positions, so that the order of nodes reveals nothing.
func (s Spec) Graph() (edges []lethe.Edge, classes []uint8) {
	draw := lethe.NewDraw(s.Seed, "planted-graph")
	position := make([]uint32, s.Nodes)
	for i := range position {
		j := draw.IntN(i + 1)
		position[i], position[j] = position[j], uint32(i)
	}
	edges = make([]lethe.Edge, 0, s.Edges)
	for len(edges) < s.Edges {
		a := draw.IntN(s.Nodes)
		var b int
		if draw.Float64() < s.Inside {
			// Node a is in community a·c/n, whose nodes are contiguous.
			community := a * s.Communities / s.Nodes
			first := (community*s.Nodes + s.Communities - 1) / s.Communities
			end := ((community+1)*s.Nodes + s.Communities - 1) / s.Communities
			b = first + draw.IntN(end-first)
		} else {
			b = draw.IntN(s.Nodes)
		}
		if a != b {
			edges = append(edges, lethe.Edge{A: position[a], B: position[b]})
		}
	}
	return edges, s.classes(draw)
}

func (s Spec) classes(draw *lethe.Draw) []uint8 {
	upTo := make([]float64, len(s.ClassShares))
	sum := 0.0
	for c, share := range s.ClassShares {
		sum += share
		upTo[c] = sum
	}
	classes := make([]uint8, s.Nodes)
	for i := range classes {
		x := draw.Float64() * sum
		classes[i] = uint8(min(len(upTo)-1, sort.Search(len(upTo), func(c int) bool { return x < upTo[c] })))
	}
	return classes
}
