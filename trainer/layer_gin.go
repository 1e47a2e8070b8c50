package trainer

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// ginSum adds the aggregation of a GIN convolution (Xu et al., "How Powerful
// are Graph Neural Networks?", ICLR 2019): (1+eps)·x_i + Σ_{j∈N(i)} x_j, with x
// rows × width and eps of length 1. The neural network that follows it is built
// of linear and relu.
//
// With cached set x must be the input features, whose neighbour sums were
// computed when the slice was prepared.
func (b *builder) ginSum(x, eps *gorgonia.Node, cached bool) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(x.Shape()[1])
	return b.apply(operation{
		kind: "gin", inputs: gorgonia.Nodes{x, eps}, out: out,
		run: func(in []gorgonia.Value) error {
			from, dst, alpha := b.live(in[0]), b.live(out), 1+floats(in[1])[0]
			if !cached {
				b.combine(dst, from, alpha)
				return nil
			}
			b.work.kernels.Scale(dst.Data, from.Data, alpha)
			b.work.kernels.Add(dst.Data, b.work.batch.aggregated)
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, nil}
			if b.needs[x] {
				grads[0] = b.ginGradInput(grad, eps)
			}
			if b.needs[eps] {
				grads[1] = b.ginGradEps(grad, x)
			}
			return grads
		},
	})
}

// combine stores (1+eps)·x + A·x. Neighbours are added in ascending order.
func (b *builder) combine(dst, x kernels.Matrix, alpha float32) {
	adjacent := b.work.batch.adjacent
	for i := range dst.Rows {
		row := dst.Row(i)
		b.work.kernels.Scale(row, x.Row(i), alpha)
		for _, j := range adjacent.of(i) {
			b.work.kernels.Add(row, x.Row(int(j)))
		}
	}
}

// ginGradInput is (1+eps)·G + Aᵀ·G, the gradient for x. The graph is
// undirected, so Aᵀ is A.
func (b *builder) ginGradInput(grad, eps *gorgonia.Node) *gorgonia.Node {
	out := b.rows(grad.Shape()[1])
	return b.apply(operation{
		kind: "gin.x", inputs: gorgonia.Nodes{grad, eps}, out: out,
		run: func(in []gorgonia.Value) error {
			b.combine(b.live(out), b.live(in[0]), 1+floats(in[1])[0])
			return nil
		},
	})
}

// ginGradEps is Σ G∘x, the gradient for eps.
func (b *builder) ginGradEps(grad, x *gorgonia.Node) *gorgonia.Node {
	out := dense(make([]float32, 1), 1)
	return b.apply(operation{
		kind: "gin.eps", inputs: gorgonia.Nodes{grad, x}, out: out,
		run: func(in []gorgonia.Value) error {
			g, from := b.live(in[0]).Data, b.live(in[1]).Data
			sum := 0.0
			for i, v := range g {
				sum += float64(float64(v) * float64(from[i]))
			}
			floats(out)[0] = float32(sum)
			return nil
		},
	})
}
