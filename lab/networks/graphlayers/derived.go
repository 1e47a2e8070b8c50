package graphlayers

import (
	"math"
	"slices"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// Derived is what these layers derive from a batch: its Batch.Derived.
type Derived struct {
	// Replace is nil except in comparisons with other programs.
	Replace *Replacement
	graph   *graph
}

// Derive derives what the layers need of a batch, once.
func Derive(b *layers.Batch) *Derived {
	d, ok := b.Derived.(*Derived)
	if !ok {
		d = &Derived{graph: newGraph(b.Graph)}
		b.Derived = d
	}
	return d
}

// derived returns what was derived from the current batch.
func derived(w *layers.Workspace) *Derived {
	if d, ok := w.Batch.Derived.(*Derived); ok {
		return d
	}
	return &Derived{}
}

// graph is a batch's graph with a loop at every node: the neighbours of node i and i itself, ascending,
// are targets[starts[i]:starts[i+1]].
type graph struct {
	Nodes   int
	open    *layers.Graph
	starts  []int
	targets []uint32
	// normalised holds the values of S = (D+I)^-1/2 (A+I) (D+I)^-1/2 in the order of targets,
	// and share one over the target's degree in the order of those of the open graph.
	normalised, share []float32
	// all lists the nodes.
	all []uint32
}

func newGraph(open *layers.Graph) *graph {
	g := &graph{Nodes: open.Nodes, open: open, starts: make([]int, 1, open.Nodes+1)}
	scale := make([]float32, open.Nodes)
	for i := range open.Nodes {
		g.all = append(g.all, uint32(i))
		list := open.Of(i)
		at, _ := slices.BinarySearch(list, uint32(i))
		g.targets = append(append(append(g.targets, list[:at]...), uint32(i)), list[at:]...)
		g.starts = append(g.starts, len(g.targets))
		scale[i] = float32(1 / math.Sqrt(float64(len(list)+1)))
	}
	g.normalised = make([]float32, 0, len(g.targets))
	for i := range open.Nodes {
		for _, j := range g.of(i) {
			g.normalised = append(g.normalised, scale[i]*scale[j])
		}
	}
	g.share = make([]float32, 0, len(open.Targets))
	for _, j := range open.Targets {
		g.share = append(g.share, 1/float32(len(open.Of(int(j)))))
	}
	return g
}

// of returns the neighbours of node i and i itself, ascending.
func (g *graph) of(i int) []uint32 { return g.targets[g.starts[i]:g.starts[i+1]] }

// AggregateMeans fills Aggregated with D^-1·A·X, where A is the adjacency matrix, D the degrees and X
// features, which must be those of the batch; 0 for a node without neighbours.
func AggregateMeans(b *layers.Batch, features []float32, set kernels.Set) {
	x, out := rowsLike(b, features), rowsLike(b, nil)
	for i := range b.Rows {
		row, neighbours := out.Row(i), b.Graph.Of(i)
		for _, j := range neighbours {
			set.Elements.Add(row, x.Row(int(j)))
		}
		if len(neighbours) > 1 {
			set.Elements.Scale(row, row, 1/float32(len(neighbours)))
		}
	}
	b.Aggregated = layers.NewFeatures(out)
}

// AggregatePropagated fills Aggregated with S^hops·X.
func AggregatePropagated(b *layers.Batch, hops int, features []float32, set kernels.Set) {
	out, spare := rowsLike(b, nil), rowsLike(b, nil)
	copy(out.Data, features)
	for range hops {
		Derive(b).graph.propagate(set.Rows, spare, out)
		out, spare = spare, out
	}
	b.Aggregated = layers.NewFeatures(out)
}

// rowsLike returns a matrix of the shape of the batch's features, of zeros unless values are given.
func rowsLike(b *layers.Batch, values []float32) kernels.Matrix {
	cols := b.Features.Dense.Cols
	if values == nil {
		values = make([]float32, b.Rows*cols)
	}
	return kernels.Matrix{Rows: b.Rows, Cols: cols, Data: values}
}
