package trainer

import (
	"fmt"
	"math"

	"lethe"
	"lethe/trainer/kernels"
)

// ignored is the class of a row that carries no loss.
const ignored = -1

// batch is a graph prepared for a program: a slice with its stubs, or a whole
// snapshot to be scored.
type batch struct {
	rows, cols int
	features   []float32
	adjacent   adjacency
	// aggregated holds the sum of the neighbours' features per row. It does
	// not change while the weights do, so it is computed once.
	aggregated []float32
	// labels has a class per row or ignored; it is nil without a loss.
	labels       []int32
	classWeights []float32
	// labelled counts the rows with a class.
	labelled int
}

// newBatch prepares a graph. Edges must be below rows.
func newBatch(in Input, kernels kernels.Set) *batch {
	b := &batch{rows: in.Rows, cols: in.Cols, features: in.Features}
	b.adjacent = newAdjacency(in.Rows, in.Edges)
	b.aggregated = make([]float32, in.Rows*in.Cols)
	for i := range in.Rows {
		row := b.aggregated[i*in.Cols : (i+1)*in.Cols]
		for _, j := range b.adjacent.of(i) {
			kernels.Add(row, in.Features[int(j)*in.Cols:(int(j)+1)*in.Cols])
		}
	}
	return b
}

// batchOf prepares a slice: the real nodes first, then a row λ·x[owner] for
// every stub, joined to its owner. Stubs have no class, but they pass messages
// and count in the batch norms.
func (e *Engine) batchOf(s *lethe.Slice) *batch {
	in := Input{Rows: len(s.Nodes) + len(s.Stubs), Cols: s.FeatureCount}
	in.Features = make([]float32, 0, in.Rows*in.Cols)
	in.Features = append(in.Features, s.Features...)
	in.Edges = make([]lethe.Edge, 0, len(s.Edges)+len(s.Stubs))
	in.Edges = append(in.Edges, s.Edges...)
	for i, stub := range s.Stubs {
		for _, v := range s.Row(int(stub.Owner)) {
			in.Features = append(in.Features, stub.Lambda*v)
		}
		in.Edges = append(in.Edges, lethe.Edge{A: stub.Owner, B: uint32(len(s.Nodes) + i)})
	}
	b := newBatch(in, e.kernels)
	b.labels = make([]int32, in.Rows)
	counts := make([]int, e.opts.Classes)
	for i := range b.labels {
		b.labels[i] = ignored
		if i < len(s.Nodes) && s.Labels[i] != lethe.Unknown {
			b.labels[i] = int32(s.Labels[i] - lethe.Licit)
			counts[b.labels[i]]++
			b.labelled++
		}
	}
	b.classWeights = classWeights(e.opts.ClassWeights, counts)
	return b
}

// classWeights are the loss weights of the classes, from the number of rows of
// each. Only their ratios count, since the loss divides by the sum of weights.
func classWeights(rule string, counts []int) []float32 {
	weights := make([]float32, len(counts))
	first := 0.0
	for c, n := range counts {
		weights[c] = 1
		if n == 0 || rule == EqualClasses {
			continue
		}
		if first == 0 {
			first = float64(n)
		}
		ratio := first / float64(n)
		if rule == RootClasses {
			ratio = math.Sqrt(ratio)
		}
		weights[c] = float32(ratio)
	}
	return weights
}

// checkSlice tells whether a slice's parts fit each other.
func checkSlice(s *lethe.Slice, classes int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: shard %d timestep %d: %s", ErrInvalidSlice, s.Shard, s.Timestep, fmt.Sprintf(format, args...))
	}
	n := len(s.Nodes)
	switch {
	case s.FeatureCount < 1 || s.FeatureCount > maxWidth:
		return fail("%d features, want 1 to %d", s.FeatureCount, maxWidth)
	case len(s.Features) != n*s.FeatureCount:
		return fail("%d feature values, want %d", len(s.Features), n*s.FeatureCount)
	case len(s.Labels) != n:
		return fail("%d labels, want %d", len(s.Labels), n)
	}
	for i, l := range s.Labels {
		if int(l) > classes {
			return fail("label %d of node %d, want at most %d", l, i, classes)
		}
	}
	for i, edge := range s.Edges {
		if edge.A >= edge.B || int(edge.B) >= n {
			return fail("edge %d joins %d and %d of %d nodes", i, edge.A, edge.B, n)
		}
	}
	for i, stub := range s.Stubs {
		if int(stub.Owner) >= n {
			return fail("stub %d belongs to node %d of %d", i, stub.Owner, n)
		}
	}
	return nil
}
