package protocol

import (
	"encoding/binary"
	"math"

	"lethe"
	"lethe/lab/citation"
)

// Graph is a data set without time: a feature row and a class per node.
type Graph struct {
	Name string
	// Columns is the number of features per node.
	Columns int
	// Features is row-major: one row of Columns per node.
	Features []float32
	// Edges are undirected: A < B, ascending, each pair once.
	Edges []lethe.Edge
	// Labels holds the class of every node, 0..Classes-1.
	Labels  []int
	Classes int
}

// NumNodes counts the nodes.
func (g *Graph) NumNodes() int { return len(g.Labels) }

// FromCitation takes a citation graph. Feature rows are divided by their sums,
// as PyTorch Geometric's NormalizeFeatures does, unless raw is set; a row
// without features stays empty.
func FromCitation(c *citation.Graph, raw bool) *Graph {
	g := &Graph{
		Name: c.Name, Columns: c.Features.Columns, Features: c.Features.Dense(),
		Edges: c.Edges, Labels: c.Labels, Classes: c.Classes,
	}
	if raw {
		return g
	}
	for i := range g.NumNodes() {
		row := g.row(i)
		sum := 0.0
		for _, v := range row {
			sum += float64(v)
		}
		if scale := float32(1 / math.Max(1, sum)); scale != 1 {
			for j := range row {
				row[j] *= scale
			}
		}
	}
	return g
}

// row returns the features of a node. It aliases the graph.
func (g *Graph) row(node int) []float32 {
	return g.Features[node*g.Columns : (node+1)*g.Columns]
}

// snapshot returns the graph induced on the nodes, which ascend, as a timestep.
// The label of class c is c+1, and unknown where hidden says so.
func (g *Graph) snapshot(nodes []int, hidden func(node int) bool) *lethe.Snapshot {
	s := &lethe.Snapshot{Revision: 1, FeatureCount: g.Columns, Features: make([]float32, 0, len(nodes)*g.Columns)}
	position := make([]int, g.NumNodes())
	for i := range position {
		position[i] = -1
	}
	for i, node := range nodes {
		position[node] = i
		label := lethe.Unknown
		if !hidden(node) {
			label = labelOf(g.Labels[node])
		}
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: rowPseudonym(node), Label: label})
		s.Features = append(s.Features, g.row(node)...)
	}
	for _, e := range g.Edges {
		if a, b := position[e.A], position[e.B]; a >= 0 && b >= 0 {
			s.Payments = append(s.Payments, lethe.Arc{Source: uint32(a), Target: uint32(b)})
		}
	}
	return s
}

// labelOf is the label that stands for a class.
func labelOf(class int) lethe.Label { return lethe.Label(class + 1) }

// rowPseudonym names a node of a public benchmark by its row, so that snapshots
// list nodes in the order of the file.
func rowPseudonym(node int) lethe.Pseudonym {
	var p lethe.Pseudonym
	binary.BigEndian.PutUint64(p[8:], uint64(node))
	return p
}

// rowOf is the row that rowPseudonym was made of.
func rowOf(p lethe.Pseudonym) int { return int(binary.BigEndian.Uint64(p[8:])) }
