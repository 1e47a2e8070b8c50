package graph

import (
	"fmt"
	"math"
	"slices"

	"lethe"
)

// Graph is an undirected simple graph with one class per node, in compressed rows: the neighbours
// of a node are contiguous and ascend. Create one with New or FromSnapshot; it is immutable.
type Graph struct {
	// start[i] is the index of node i's first neighbour; start[N()] is the end of the last row.
	start      []int
	neighbours []uint32
	classes    []uint8
	// classCounts holds the number of nodes of every class.
	classCounts []int
}

// New builds the graph on nodes 0..numNodes-1. Edges may be in any order and direction; a
// repeated pair counts once. The error contains the index of the first edge or node that is out
// of bounds.
func New(numNodes int, edges []lethe.Edge, classes []uint8, numClasses int) (*Graph, error) {
	if err := checkGraph(numNodes, edges, classes, numClasses); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	g := &Graph{classes: slices.Clone(classes), classCounts: make([]int, numClasses)}
	for _, c := range classes {
		g.classCounts[c]++
	}
	end := make([]int, numNodes+1)
	for _, e := range edges {
		end[e.A]++
		end[e.B]++
	}
	total := 0
	for i, degree := range end {
		end[i] = total
		total += degree
	}
	g.neighbours = make([]uint32, total)
	for _, e := range edges {
		g.neighbours[end[e.A]] = e.B
		end[e.A]++
		g.neighbours[end[e.B]] = e.A
		end[e.B]++
	}
	g.compact(end[:numNodes])
	return g, nil
}

// FromSnapshot builds the undirected graph of the payments of a snapshot, with the labels as
// classes; "unknown" is a class like the others. It accepts higher label values too, for data
// sets with more classes.
func FromSnapshot(s *lethe.Snapshot) (*Graph, error) {
	classes := make([]uint8, len(s.Nodes))
	numClasses := lethe.NumLabels
	for i := range s.Nodes {
		classes[i] = uint8(s.Nodes[i].Label)
		numClasses = max(numClasses, int(classes[i])+1)
	}
	edges := make([]lethe.Edge, len(s.Payments))
	for i, p := range s.Payments {
		edges[i] = p.Edge()
	}
	g, err := New(len(s.Nodes), edges, classes, numClasses)
	if err != nil {
		return nil, fmt.Errorf("timestep %d: %w", s.Timestep, err)
	}
	return g, nil
}

// compact sorts every row, whose ends are in end, and removes duplicates.
func (g *Graph) compact(end []int) {
	g.start = make([]int, len(end)+1)
	from, to := 0, 0
	for i, stop := range end {
		row := g.neighbours[from:stop]
		slices.Sort(row)
		to += copy(g.neighbours[to:], slices.Compact(row))
		g.start[i+1] = to
		from = stop
	}
	g.neighbours = g.neighbours[:to]
}

// N returns the number of nodes.
func (g *Graph) N() int { return len(g.classes) }

// NumEdges returns the number of undirected edges.
func (g *Graph) NumEdges() int { return len(g.neighbours) / 2 }

// Neighbors returns the neighbours of node i, ascending. It aliases the graph
// and must not be changed.
func (g *Graph) Neighbors(i int) []uint32 { return g.neighbours[g.start[i]:g.start[i+1]] }

// Class returns the class of node i.
func (g *Graph) Class(i int) uint8 { return g.classes[i] }

// Classes returns the class of every node. It aliases the graph and must not be
// changed.
func (g *Graph) Classes() []uint8 { return g.classes }

// NumClasses returns the number of classes, empty ones included.
func (g *Graph) NumClasses() int { return len(g.classCounts) }

// ClassCounts returns the number of nodes of every class. It aliases the graph
// and must not be changed.
func (g *Graph) ClassCounts() []int { return g.classCounts }

// Rows returns the compressed rows: the neighbours of node i are neighbours[k] for
// start[i] <= k < start[i+1]. Both alias the graph and must not be changed.
func (g *Graph) Rows() (start []int, neighbours []uint32) { return g.start, g.neighbours }

// LargestClass returns the number of nodes of the largest class.
func (g *Graph) LargestClass() int { return slices.Max(append([]int{0}, g.classCounts...)) }

// Adjacent reports whether an edge joins i and j.
func (g *Graph) Adjacent(i, j int) bool {
	if g.start[i+1]-g.start[i] > g.start[j+1]-g.start[j] {
		i, j = j, i
	}
	_, found := slices.BinarySearch(g.Neighbors(i), uint32(j))
	return found
}

func checkGraph(numNodes int, edges []lethe.Edge, classes []uint8, numClasses int) error {
	if numNodes < 0 || int64(numNodes) > math.MaxUint32 {
		return fmt.Errorf("%d nodes, want 0 to %d", numNodes, uint32(math.MaxUint32))
	}
	if len(classes) != numNodes {
		return fmt.Errorf("%d classes for %d nodes", len(classes), numNodes)
	}
	if numClasses < 0 || numClasses > math.MaxUint8+1 {
		return fmt.Errorf("%d classes, want 0 to %d", numClasses, math.MaxUint8+1)
	}
	for i, c := range classes {
		if int(c) >= numClasses {
			return fmt.Errorf("node %d has class %d, want below %d", i, c, numClasses)
		}
	}
	for i, e := range edges {
		if int64(e.A) >= int64(numNodes) || int64(e.B) >= int64(numNodes) {
			return fmt.Errorf("edge %d joins %d and %d, want both below %d", i, e.A, e.B, numNodes)
		}
		if e.A == e.B {
			return fmt.Errorf("edge %d joins node %d to itself", i, e.A)
		}
	}
	return nil
}
