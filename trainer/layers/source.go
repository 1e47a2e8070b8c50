package layers

import "gorgonia.org/gorgonia"

// source tells the features that a node stands for. Such a node takes no
// gradient and may be sparse; only Linear, LinearPair, GINInput and Dropout
// take it.
type source func() Features

// Source adds the features of the batch.
func (b *Builder) Source(cols int) *gorgonia.Node {
	return b.source("features", cols, func() Features { return b.Work.Batch.Features })
}

// Aggregated adds what the batch's preparation made of its features.
func (b *Builder) Aggregated(cols int) *gorgonia.Node {
	return b.source("aggregated", cols, func() Features { return b.Work.Batch.Aggregated })
}

func (b *Builder) source(kind string, cols int, from source) *gorgonia.Node {
	n := b.Input(kind, make([]float32, cols), false, 1, cols)
	b.sources[n] = from
	return n
}

// operand returns the rows that operators work on, of the matrix that an input stands for in the current batch.
func (b *Builder) operand(n *gorgonia.Node, v gorgonia.Value) Features {
	if from, ok := b.sources[n]; ok {
		return from().rows(b.Work.rows())
	}
	return Features{Dense: b.live(v)}
}
