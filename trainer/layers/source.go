package layers

import "gorgonia.org/gorgonia"

// Source returns the features that a node represents. Such a node has no gradient and may be
// sparse; only Linear, GINInput and layers that look at Builder.Sources accept it.
type Source func() Features

// Source adds the features of the batch.
func (b *Builder) Source(cols int) *gorgonia.Node {
	return b.source("features", cols, func() Features { return b.Work.Batch.Features })
}

// Aggregated adds the batch's Aggregated features.
func (b *Builder) Aggregated(cols int) *gorgonia.Node {
	return b.source("aggregated", cols, func() Features { return b.Work.Batch.Aggregated })
}

func (b *Builder) source(kind string, cols int, from Source) *gorgonia.Node {
	n := b.Input(kind, make([]float32, cols), false, 1, cols)
	b.Sources[n] = from
	return n
}

// operand returns the current rows of the matrix that an input represents in the current batch.
func (b *Builder) operand(n *gorgonia.Node, v gorgonia.Value) Features {
	if from, ok := b.Sources[n]; ok {
		return from().rows(b.Work.rows())
	}
	return Features{Dense: b.Live(v)}
}
