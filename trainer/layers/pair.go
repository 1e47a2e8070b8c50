package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// LinearPair adds [x·left | x·right], plus the biases unless they are nil, rows × twice the
// width: two linear layers of one input, which GraphSAGE and GATv2 need. x is rows × in or a
// source; both weights are in × out.
func LinearPair(b *Builder, x, left, right, leftBias, rightBias *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	half := width(left)
	// x is used twice: Gorgonia adds the two gradients.
	inputs := gorgonia.Nodes{x, x, left, right}
	if leftBias != nil {
		inputs = append(inputs, leftBias, rightBias)
	}
	out, part := b.rows(2*half), b.rows(half)
	return b.apply(operation{
		kind: "pair", inputs: inputs, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			from := b.operand(x, in[0])
			for side := range 2 {
				b.Work.product(b.live(part), from, whole(in[2+side]))
				if leftBias != nil {
					b.Work.shift(b.live(part), b.live(part), floats(in[4+side]))
				}
				copyColumns(b.live(out), b.live(part), side*half, 0, half)
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			l, r := columns(b, grad, 0, half), columns(b, grad, half, half)
			grads := gorgonia.Nodes{nil, nil, linearGradWeight(b, l, x, left), linearGradWeight(b, r, x, right)}
			if b.needs[x] {
				grads[0], grads[1] = linearGradInput(b, l, left), linearGradInput(b, r, right)
			}
			if leftBias != nil {
				grads = append(grads, columnSums(b, l), columnSums(b, r))
			}
			return grads
		},
	})
}

// columns is a copy of some columns of a matrix.
func columns(b *Builder, x *gorgonia.Node, from, count int) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(count)
	return b.apply(operation{
		kind: "columns", inputs: gorgonia.Nodes{x}, out: out,
		run: func(in []gorgonia.Value) error {
			copyColumns(b.live(out), b.live(in[0]), 0, from, count)
			return nil
		},
	})
}

func copyColumns(dst, src kernels.Matrix, to, from, count int) {
	for i := range dst.Rows {
		copy(dst.Row(i)[to:to+count], src.Row(i)[from:from+count])
	}
}
