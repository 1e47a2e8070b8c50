package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// LinearPair adds [x·left | x·right], plus the biases unless they are nil, rows × twice the
// width: two linear layers of one input, which GraphSAGE and GATv2 need. x is rows × in or a
// source; both weights are in × out.
func LinearPair(b *layers.Builder, x, left, right, leftBias, rightBias *gorgonia.Node) *gorgonia.Node {
	l, r := layers.Linear(b, x, left, leftBias), layers.Linear(b, x, right, rightBias)
	half := layers.Width(left)
	out := b.NewRows(2 * half)
	return b.Apply(layers.Operation{
		Kind: "pair", Inputs: gorgonia.Nodes{l, r}, Out: out, Reads: layers.SameRow,
		Run: func(in []gorgonia.Value) error {
			for side, part := range in {
				copyColumns(b.Live(out), b.Live(part), side*half, 0, half)
			}
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{columns(b, grad, 0, half), columns(b, grad, half, half)}
		},
	})
}

// columns is a copy of some columns of a matrix.
func columns(b *layers.Builder, x *gorgonia.Node, from, count int) *gorgonia.Node {
	out := b.NewRows(count)
	return b.Apply(layers.Operation{
		Kind: "columns", Inputs: gorgonia.Nodes{x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			copyColumns(b.Live(out), b.Live(in[0]), 0, from, count)
			return nil
		},
	})
}

func copyColumns(dst, src kernels.Matrix, to, from, count int) {
	for i := range dst.Rows {
		copy(dst.Row(i)[to:to+count], src.Row(i)[from:from+count])
	}
}
