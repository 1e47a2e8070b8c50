package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// gat is one GAT layer.
type gat struct{ ends }

// GAT adds a graph attention layer (Veličković et al., ICLR 2018) on z = x·W, rows ×
// heads·channels: out_i = Σ_j α_ij·z_j per head, where α is the softmax over the edges into i,
// including its loop, of LeakyReLU(source·z_j + target·z_i). source and target have shape [1,
// heads, channels].
func GAT(b *layers.Builder, z, source, target *gorgonia.Node, shape Attention) *gorgonia.Node {
	g := &gat{newEnds(b, shape)}
	out := b.NewRows(g.size())
	return b.Apply(layers.Operation{
		Kind: "gat", Inputs: gorgonia.Nodes{z, source, target}, Out: out,
		Run: func(in []gorgonia.Value) error {
			g.prepare()
			z := g.turn(&g.messages, b.Live(in[0]), 0)
			g.sum(z, layers.Floats(in[1]), layers.Floats(in[2]))
			loops.Of(b.Work.Kernels).Activations.LeakyReLU(g.weight, g.pre, attentionSlope)
			g.normalise()
			g.aggregate(b.Live(out), z)
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(g.size())
			gz := b.Apply(layers.Operation{
				Kind: "gat.x", Inputs: gorgonia.Nodes{grad, y}, Out: back,
				Run: func(in []gorgonia.Value) error {
					g.backward(b.Live(back), b.Live(in[0]))
					return nil
				},
			})
			return gorgonia.Nodes{
				gz, byproduct(b, "gat.source", gz, g.gradSource, 1, g.Heads, g.Channels),
				byproduct(b, "gat.target", gz, g.gradTarget, 1, g.Heads, g.Channels),
			}
		},
	})
}

// backward stores the gradient for z, given that for the result.
func (g *gat) backward(dz, upstream kernels.Matrix) {
	z := kernels.Matrix{Rows: dz.Rows, Cols: dz.Cols, Data: g.messages}
	back := g.pull(upstream, z)
	loops.Of(g.work.Kernels).Activations.LeakyReLUGrad(g.grad, g.pre, g.grad, attentionSlope)
	g.pullSum(back, z, g.grad)
	g.turnBack(dz, back, 0)
}
