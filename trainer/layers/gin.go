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
	out := b.NewRows(Width(x))
	return b.Apply(Operation{
		Kind: "gin", Inputs: gorgonia.Nodes{x, eps}, Out: out, Reads: OfNeighbours,
		Run: func(in []gorgonia.Value) error {
			b.combine(b.Live(out), in[0], 1+Floats(in[1])[0])
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, nil}
			if b.Needs(x) {
				grads[0] = ginGradInput(b, grad, eps)
			}
			if b.Needs(eps) {
				grads[1] = ginGradEps(b, grad, x)
			}
			return grads
		},
	})
}

// GINInput is GINSum of dense features whose neighbour sums are in the batch: x is Source, and
// Aggregated was filled with NeighbourSum.
func GINInput(b *Builder, x, eps *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(Width(x))
	return b.Apply(Operation{
		Kind: "gin.input", Inputs: gorgonia.Nodes{x, eps}, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			dst := b.Live(out)
			from, count := b.Work.rows()
			own, others := b.Work.Batch.Features.rows(from, count), b.Work.Batch.Aggregated.rows(from, count)
			b.Work.Kernels.Elements.Scale(dst.Data, own.Dense.Data, 1+Floats(in[1])[0])
			if others.Sparse != nil {
				others.Sparse.addTo(dst)
				return nil
			}
			b.Work.Kernels.Elements.Add(dst.Data, others.Dense.Data)
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{nil, ginGradEps(b, grad, x)}
		},
	})
}

// combine stores (1+eps)·x + A·x. Neighbours are added first, in ascending order.
func (b *Builder) combine(dst kernels.Matrix, x gorgonia.Value, alpha float32) {
	graph, k := b.Work.Batch.Graph, b.Work.Kernels.Rows
	from, _ := b.Work.rows()
	k.SumRows(dst, b.all(x), kernels.Lists{Starts: graph.Starts[from:], Rows: graph.Targets})
	k.Axpy(dst.Data, b.Live(x).Data, alpha)
}

// ginGradInput is (1+eps)·G + Aᵀ·G, the gradient for x. The graph is
// undirected, so Aᵀ is A.
func ginGradInput(b *Builder, grad, eps *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(Width(grad))
	return b.Apply(Operation{
		Kind: "gin.x", Inputs: gorgonia.Nodes{grad, eps}, Out: out,
		Run: func(in []gorgonia.Value) error {
			b.combine(b.Live(out), in[0], 1+Floats(in[1])[0])
			return nil
		},
	})
}

// ginGradEps is Σ G∘x, the gradient for eps.
func ginGradEps(b *Builder, grad, x *gorgonia.Node) *gorgonia.Node {
	out := Dense(make([]float32, 1), 1)
	return b.Apply(Operation{
		Kind: "gin.eps", Inputs: gorgonia.Nodes{grad, x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			Floats(out)[0] = float32(b.Work.Kernels.Elements.Dot(b.Live(in[0]).Data, b.operand(x, in[1]).Dense.Data))
			return nil
		},
	})
}
