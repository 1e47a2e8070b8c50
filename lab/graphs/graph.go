package graphs

import (
	"context"
	"slices"
	"strconv"

	"lethe"
	"lethe/dataset"
	"lethe/lab/citation"
)

// Graph is one timestep of a dataset as a partition sees it: an undirected graph
// with a class per node. A citation graph is timestep 0.
type Graph struct {
	Timestep lethe.Timestep
	// IDs name the nodes; nil stands for their row numbers in Rows.
	IDs  []lethe.TransactionID
	Rows []int
	// Edges join positions, A < B, ascending, each once.
	Edges []lethe.Edge
	// Classes are 0..NumClasses-1; "unknown" is a class of its own.
	Classes    []uint8
	NumClasses int
}

// NumNodes counts the nodes.
func (g *Graph) NumNodes() int { return len(g.Classes) }

// ID names a node: its transaction id, or its row number.
func (g *Graph) ID(node int) string {
	if g.IDs == nil {
		return strconv.Itoa(g.Rows[node])
	}
	return string(g.IDs[node])
}

// Load reads either kind of dataset as graphs, in timestep order.
func Load(ctx context.Context, path string) ([]*Graph, error) {
	kind, err := Detect(path)
	if err != nil {
		return nil, err
	}
	if kind == CitationArchive {
		c, err := citation.Load(path)
		if err != nil {
			return nil, err
		}
		return []*Graph{fromCitation(c)}, nil
	}
	stream, err := dataset.LoadElliptic(ctx, path)
	if err != nil {
		return nil, err
	}
	graphs := make([]*Graph, len(stream.Steps))
	for i := range stream.Steps {
		graphs[i] = FromStep(&stream.Steps[i])
	}
	return graphs, nil
}

// fromCitation returns a citation graph as timestep 0.
func fromCitation(c *citation.Graph) *Graph {
	g := &Graph{Edges: c.Edges, Classes: make([]uint8, c.NumNodes), NumClasses: c.Classes, Rows: make([]int, c.NumNodes)}
	for i, label := range c.Labels {
		g.Classes[i], g.Rows[i] = uint8(label), i
	}
	return g
}

// FromStep returns a timestep's graph. Payments with an end outside the step are left
// out, as they are when a timestep closes.
func FromStep(s *dataset.Step) *Graph {
	g := &Graph{Timestep: s.Timestep, NumClasses: lethe.NumLabels, Classes: make([]uint8, len(s.Transactions))}
	position := make(map[lethe.TransactionID]uint32, len(s.Transactions))
	for i, t := range s.Transactions {
		position[t.ID] = uint32(i)
		g.IDs = append(g.IDs, t.ID)
	}
	for _, l := range s.Labels {
		if i, known := position[l.ID]; known {
			g.Classes[i] = uint8(l.Label)
		}
	}
	for _, p := range s.Payments {
		a, knownA := position[p.Source]
		b, knownB := position[p.Target]
		if knownA && knownB && a != b {
			g.Edges = append(g.Edges, lethe.Edge{A: min(a, b), B: max(a, b)})
		}
	}
	slices.SortFunc(g.Edges, lethe.Edge.Compare)
	g.Edges = slices.Compact(g.Edges)
	return g
}

// Induce returns the graph induced on a seeded fraction of the nodes, rounded to
// the nearest number; a fraction of 1 returns the graph itself.
func (g *Graph) Induce(fraction float64, seed uint64) *Graph {
	if fraction >= 1 {
		return g
	}
	order := make([]int, g.NumNodes())
	for i := range order {
		order[i] = i
	}
	d := lethe.NewDraw(seed, "train-fraction", uint64(g.Timestep))
	for i := len(order) - 1; i > 0; i-- {
		j := d.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	kept := order[:int(fraction*float64(len(order))+0.5)]
	slices.Sort(kept)
	out := &Graph{Timestep: g.Timestep, NumClasses: g.NumClasses}
	position := make(map[uint32]uint32, len(kept))
	for i, node := range kept {
		position[uint32(node)] = uint32(i)
		out.Classes = append(out.Classes, g.Classes[node])
		if g.IDs != nil {
			out.IDs = append(out.IDs, g.IDs[node])
		} else {
			out.Rows = append(out.Rows, g.Rows[node])
		}
	}
	for _, e := range g.Edges {
		a, keptA := position[e.A]
		b, keptB := position[e.B]
		if keptA && keptB {
			out.Edges = append(out.Edges, lethe.Edge{A: a, B: b})
		}
	}
	return out
}
