package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// Linear adds x·W + bias: x is rows × in or a source, w is in × out, bias has
// length out or is nil.
func Linear(b *Builder, x, w, bias *gorgonia.Node) *gorgonia.Node {
	inputs := gorgonia.Nodes{x, w}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	out := b.NewRows(Width(w))
	return b.Apply(Operation{
		Kind: "linear", Inputs: inputs, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			dst := b.Live(out)
			b.Work.product(dst, b.operand(x, in[0]), whole(in[1]))
			if bias != nil {
				b.Work.shift(dst, dst, Floats(in[2]))
			}
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, linearGradWeight(b, grad, x, w)}
			if b.Needs(x) {
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
		x.Sparse.mul(w.Kernels.Rows, dst, weight)
		return
	}
	w.Kernels.Products.MulNN(dst, x.Dense, weight, &w.scratch)
}

// gradProduct stores xᵀ·g.
func (w *Workspace) gradProduct(dst kernels.Matrix, x Features, g kernels.Matrix) {
	if x.Sparse != nil {
		x.Sparse.mulTransposed(w.Kernels.Rows, dst, g)
		return
	}
	w.Kernels.Products.MulTN(dst, x.Dense, g, &w.scratch)
}

// shift stores x + bias, row by row, in dst, which may be x.
func (w *Workspace) shift(dst, x kernels.Matrix, bias []float32) {
	w.Kernels.Rows.AddRows(dst, x, kernels.Matrix{Rows: 1, Cols: len(bias), Data: bias})
}

// linearGradInput is G·Wᵀ, the gradient for x.
func linearGradInput(b *Builder, grad, w *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(w.Shape()[0])
	return b.Apply(Operation{
		Kind: "linear.x", Inputs: gorgonia.Nodes{grad, w}, Out: out,
		Run: func(in []gorgonia.Value) error {
			b.Work.Kernels.Products.MulNT(b.Live(out), b.Live(in[0]), whole(in[1]), &b.Work.scratch)
			return nil
		},
	})
}

// linearGradWeight is xᵀ·G, the gradient for w.
func linearGradWeight(b *Builder, grad, x, w *gorgonia.Node) *gorgonia.Node {
	shape := w.Shape()
	out := Dense(make([]float32, shape.TotalSize()), shape...)
	return b.Apply(Operation{
		Kind: "linear.w", Inputs: gorgonia.Nodes{grad, x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			b.Work.gradProduct(whole(out), b.operand(x, in[1]), b.Live(in[0]))
			return nil
		},
	})
}

// Bias adds x + bias, row by row.
func Bias(b *Builder, x, bias *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(Width(x))
	return b.Apply(Operation{
		Kind: "bias", Inputs: gorgonia.Nodes{x, bias}, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			b.Work.shift(b.Live(out), b.Live(in[0]), Floats(in[1]))
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, columnSums(b, grad)}
			if b.Needs(x) {
				grads[0] = grad
			}
			return grads
		},
	})
}

// columnSums sums the live rows of a matrix, the gradient for a bias.
func columnSums(b *Builder, grad *gorgonia.Node) *gorgonia.Node {
	cols := Width(grad)
	out := Dense(make([]float32, cols), cols)
	all, starts := make([]uint32, b.Capacity), make([]int, 2)
	for i := range all {
		all[i] = uint32(i)
	}
	return b.Apply(Operation{
		Kind: "linear.b", Inputs: gorgonia.Nodes{grad}, Out: out,
		Run: func(in []gorgonia.Value) error {
			from := b.Live(in[0])
			starts[1] = from.Rows
			b.Work.Kernels.Rows.SumRows(kernels.Matrix{Rows: 1, Cols: cols, Data: Floats(out)}, from,
				kernels.Lists{Starts: starts, Rows: all[:from.Rows]})
			return nil
		},
	})
}

// Sum adds two matrices of one shape.
func Sum(b *Builder, x, y *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(Width(x))
	return b.Apply(Operation{
		Kind: "sum", Inputs: gorgonia.Nodes{x, y}, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			b.Work.Kernels.Rows.AddRows(b.Live(out), b.Live(in[0]), b.Live(in[1]))
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes { return gorgonia.Nodes{grad, grad} },
	})
}
