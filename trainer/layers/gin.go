package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// GINSum adds the aggregation of a GIN convolution (Xu et al., "How Powerful are Graph Neural
// Networks?", ICLR 2019): (1+eps)·x_i + Σ_{j∈N(i)} x_j, with x rows × width and eps of length 1.
// The neural network that follows is built from Linear, Norm and ReLU. The sum commutes with a
// linear layer without bias, which saves time if x is sparse.
func GINSum(b *Builder, x, eps *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: "gin", inputs: gorgonia.Nodes{x, eps}, out: out, reads: ofNeighbours,
		run: func(in []gorgonia.Value) error {
			b.combine(b.live(out), in[0], 1+floats(in[1])[0])
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, nil}
			if b.needs[x] {
				grads[0] = ginGradInput(b, grad, eps)
			}
			if b.needs[eps] {
				grads[1] = ginGradEps(b, grad, x)
			}
			return grads
		},
	})
}

// GINInput is GINSum of dense features whose neighbour sums are in the batch: x is Source, and
// Aggregated was filled with NeighbourSum.
func GINInput(b *Builder, x, eps *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: "gin.input", inputs: gorgonia.Nodes{x, eps}, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			dst := b.live(out)
			from, count := b.Work.rows()
			own, others := b.Work.Batch.Features.rows(from, count), b.Work.Batch.Aggregated.rows(from, count)
			b.Work.kernels.Elements.Scale(dst.Data, own.Dense.Data, 1+floats(in[1])[0])
			if others.Sparse != nil {
				others.Sparse.addTo(dst)
				return nil
			}
			b.Work.kernels.Elements.Add(dst.Data, others.Dense.Data)
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{nil, ginGradEps(b, grad, x)}
		},
	})
}

// combine stores (1+eps)·x + A·x. Neighbours are added first, in ascending order.
func (b *Builder) combine(dst kernels.Matrix, x gorgonia.Value, alpha float32) {
	graph, k := b.Work.Batch.Graph, b.Work.kernels.Rows
	from, _ := b.Work.rows()
	k.SumRows(dst, b.all(x), kernels.Lists{Starts: graph.starts[from:], Rows: graph.targets})
	k.Axpy(dst.Data, b.live(x).Data, alpha)
}

// ginGradInput is (1+eps)·G + Aᵀ·G, the gradient for x. The graph is
// undirected, so Aᵀ is A.
func ginGradInput(b *Builder, grad, eps *gorgonia.Node) *gorgonia.Node {
	out := b.rows(width(grad))
	return b.apply(operation{
		kind: "gin.x", inputs: gorgonia.Nodes{grad, eps}, out: out,
		run: func(in []gorgonia.Value) error {
			b.combine(b.live(out), in[0], 1+floats(in[1])[0])
			return nil
		},
	})
}

// ginGradEps is Σ G∘x, the gradient for eps.
func ginGradEps(b *Builder, grad, x *gorgonia.Node) *gorgonia.Node {
	out := dense(make([]float32, 1), 1)
	return b.apply(operation{
		kind: "gin.eps", inputs: gorgonia.Nodes{grad, x}, out: out,
		run: func(in []gorgonia.Value) error {
			floats(out)[0] = float32(b.Work.kernels.Elements.Dot(b.live(in[0]).Data, b.operand(x, in[1]).Dense.Data))
			return nil
		},
	})
}
