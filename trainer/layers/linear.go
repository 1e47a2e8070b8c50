package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// Linear adds x·W + bias: x is rows × in or a source, w is in × out, bias has
// length out or is nil.
func Linear(b *Builder, x, w, bias *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	inputs := gorgonia.Nodes{x, w}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	out := b.rows(width(w))
	return b.apply(operation{
		kind: "linear", inputs: inputs, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			dst := b.live(out)
			b.Work.product(dst, b.operand(x, in[0]), whole(in[1]))
			if bias != nil {
				b.Work.shift(dst, dst, floats(in[2]))
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, linearGradWeight(b, grad, x, w)}
			if b.needs[x] {
				grads[0] = linearGradInput(b, grad, w)
			}
			if bias != nil {
				grads = append(grads, columnSums(b, grad))
			}
			return grads
		},
	})
}

// product stores x·weight.
func (w *Workspace) product(dst kernels.Matrix, x Features, weight kernels.Matrix) {
	if x.Sparse != nil {
		x.Sparse.mul(w.kernels.Rows, dst, weight)
		return
	}
	w.kernels.Products.MulNN(dst, x.Dense, weight, &w.scratch)
}

// gradProduct stores xᵀ·g.
func (w *Workspace) gradProduct(dst kernels.Matrix, x Features, g kernels.Matrix) {
	if x.Sparse != nil {
		x.Sparse.mulTransposed(w.kernels.Rows, dst, g)
		return
	}
	w.kernels.Products.MulTN(dst, x.Dense, g, &w.scratch)
}

// shift stores x + bias, row by row, in dst, which may be x.
func (w *Workspace) shift(dst, x kernels.Matrix, bias []float32) {
	w.kernels.Rows.AddRows(dst, x, kernels.Matrix{Rows: 1, Cols: len(bias), Data: bias})
}

// linearGradInput is G·Wᵀ, the gradient for x.
func linearGradInput(b *Builder, grad, w *gorgonia.Node) *gorgonia.Node {
	out := b.rows(w.Shape()[0])
	return b.apply(operation{
		kind: "linear.x", inputs: gorgonia.Nodes{grad, w}, out: out,
		run: func(in []gorgonia.Value) error {
			b.Work.kernels.Products.MulNT(b.live(out), b.live(in[0]), whole(in[1]), &b.Work.scratch)
			return nil
		},
	})
}

// linearGradWeight is xᵀ·G, the gradient for w.
func linearGradWeight(b *Builder, grad, x, w *gorgonia.Node) *gorgonia.Node {
	shape := w.Shape()
	out := dense(make([]float32, shape.TotalSize()), shape...)
	return b.apply(operation{
		kind: "linear.w", inputs: gorgonia.Nodes{grad, x}, out: out,
		run: func(in []gorgonia.Value) error {
			b.Work.gradProduct(whole(out), b.operand(x, in[1]), b.live(in[0]))
			return nil
		},
	})
}

// Bias adds x + bias, row by row.
func Bias(b *Builder, x, bias *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: "bias", inputs: gorgonia.Nodes{x, bias}, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			b.Work.shift(b.live(out), b.live(in[0]), floats(in[1]))
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, columnSums(b, grad)}
			if b.needs[x] {
				grads[0] = grad
			}
			return grads
		},
	})
}

// columnSums sums the live rows of a matrix, the gradient for a bias.
func columnSums(b *Builder, grad *gorgonia.Node) *gorgonia.Node {
	cols := width(grad)
	out := dense(make([]float32, cols), cols)
	all, starts := make([]uint32, b.capacity), make([]int, 2)
	for i := range all {
		all[i] = uint32(i)
	}
	return b.apply(operation{
		kind: "linear.b", inputs: gorgonia.Nodes{grad}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			starts[1] = from.Rows
			b.Work.kernels.Rows.SumRows(kernels.Matrix{Rows: 1, Cols: cols, Data: floats(out)}, from,
				kernels.Lists{Starts: starts, Rows: all[:from.Rows]})
			return nil
		},
	})
}

// Sum adds two matrices of one shape.
func Sum(b *Builder, x, y *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: "sum", inputs: gorgonia.Nodes{x, y}, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			b.Work.kernels.Rows.AddRows(b.live(out), b.live(in[0]), b.live(in[1]))
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes { return gorgonia.Nodes{grad, grad} },
	})
}
