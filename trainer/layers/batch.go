package layers

import (
	"lethe"
	"lethe/trainer/kernels"
)

// Ignored is the class of a row that does not contribute to the loss.
const Ignored = -1

// Batch is a graph prepared for a program: a slice with its stubs, or a whole snapshot to score.
type Batch struct {
	Rows     int
	Features Features
	// Aggregated is the model's first graph aggregation of the features. It does not depend on the
	// weights, so it is computed once.
	Aggregated Features
	Graph      *Graph
	// Labels holds a class or Ignored per row; it is nil if there is no loss.
	Labels       []int32
	ClassWeights []float32
	// Keys holds a key per row for its random draws, derived only from the pseudonym, so that one
	// row does not change the draws of another. It is nil without training.
	Keys []uint64
}

// Aggregation is the kind of Batch.Aggregated.
type Aggregation int

// The aggregations. A is the adjacency matrix, D the degrees and
// S = (D+I)^-1/2 (A+I) (D+I)^-1/2.
const (
	// NoAggregation leaves it empty.
	NoAggregation Aggregation = iota
	// NeighbourSum is A·X.
	NeighbourSum
	// NeighbourMean is D^-1·A·X, 0 for a node without neighbours.
	NeighbourMean
	// Propagation is S^hops·X.
	Propagation
)

// NewBatch prepares a graph with cols features per row. Edges must be below rows. It aliases the
// features.
func NewBatch(rows, cols int, features []float32, edges []lethe.Edge) *Batch {
	return &Batch{
		Rows: rows, Graph: NewGraph(rows, edges),
		Features: NewFeatures(kernels.Matrix{Rows: rows, Cols: cols, Data: features}),
	}
}

// Aggregate fills Aggregated from features, which must be those of the batch.
func (b *Batch) Aggregate(kind Aggregation, hops int, features []float32, set kernels.Set) {
	if kind == NoAggregation {
		return
	}
	cols := b.Features.Dense.Cols
	x := kernels.Matrix{Rows: b.Rows, Cols: cols, Data: features}
	out := kernels.Matrix{Rows: b.Rows, Cols: cols, Data: make([]float32, b.Rows*cols)}
	switch kind {
	case NeighbourSum, NeighbourMean:
		for i := range b.Rows {
			row := out.Row(i)
			neighbours := b.Graph.of(i)
			for _, j := range neighbours {
				set.Elements.Add(row, x.Row(int(j)))
			}
			if kind == NeighbourMean && len(neighbours) > 1 {
				set.Elements.Scale(row, row, 1/float32(len(neighbours)))
			}
		}
	default:
		spare := kernels.Matrix{Rows: b.Rows, Cols: cols, Data: make([]float32, b.Rows*cols)}
		copy(out.Data, x.Data)
		for range hops {
			b.Graph.propagate(set.Rows, spare, out)
			out, spare = spare, out
		}
	}
	b.Aggregated = NewFeatures(out)
}
