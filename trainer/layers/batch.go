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
	// Derived is a value that a network of another package derives from the batch once, besides Aggregated.
	Derived any
}

// NewBatch prepares a graph with cols features per row. Edges must be below rows. It aliases the
// features.
func NewBatch(rows, cols int, features []float32, edges []lethe.Edge) *Batch {
	return &Batch{
		Rows: rows, Graph: NewGraph(rows, edges),
		Features: NewFeatures(kernels.Matrix{Rows: rows, Cols: cols, Data: features}),
	}
}

// SumNeighbours fills Aggregated with the sums over each node's neighbours of features, which must be
// those of the batch.
func (b *Batch) SumNeighbours(features []float32, set kernels.Set) {
	cols := b.Features.Dense.Cols
	x := kernels.Matrix{Rows: b.Rows, Cols: cols, Data: features}
	out := kernels.Matrix{Rows: b.Rows, Cols: cols, Data: make([]float32, b.Rows*cols)}
	for i := range b.Rows {
		for _, j := range b.Graph.Of(i) {
			set.Elements.Add(out.Row(i), x.Row(int(j)))
		}
	}
	b.Aggregated = NewFeatures(out)
}
