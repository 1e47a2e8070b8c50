package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// gat is one GAT layer.
type gat struct{ ends }

// GAT adds a graph attention layer (Veličković et al., ICLR 2018) on z = x·W, rows ×
// heads·channels: out_i = Σ_j α_ij·z_j per head, where α is the softmax over the edges into i,
// including its loop, of LeakyReLU(source·z_j + target·z_i). source and target have shape [1,
// heads, channels].
func GAT(b *Builder, z, source, target *gorgonia.Node, shape Attention) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	g := &gat{newEnds(b, shape)}
	out := b.rows(g.size())
	return b.apply(operation{
		kind: "gat", inputs: gorgonia.Nodes{z, source, target}, out: out,
		run: func(in []gorgonia.Value) error {
			g.prepare()
			z := g.turn(&g.messages, b.live(in[0]), 0)
			g.sum(z, floats(in[1]), floats(in[2]))
			b.Work.kernels.Activations.LeakyReLU(g.weight, g.pre, attentionSlope)
			g.normalise()
			g.aggregate(b.live(out), z)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(g.size())
			gz := b.apply(operation{
				kind: "gat.x", inputs: gorgonia.Nodes{grad, y}, out: back,
				run: func(in []gorgonia.Value) error {
					g.backward(b.live(back), b.live(in[0]))
					return nil
				},
			})
			return gorgonia.Nodes{
				gz, b.byproduct("gat.source", gz, g.gradSource, 1, g.Heads, g.Channels),
				b.byproduct("gat.target", gz, g.gradTarget, 1, g.Heads, g.Channels),
			}
		},
	})
}

// backward stores the gradient for z, given that for the result.
func (g *gat) backward(dz, upstream kernels.Matrix) {
	z := kernels.Matrix{Rows: dz.Rows, Cols: dz.Cols, Data: g.messages}
	back := g.pull(upstream, z)
	g.work.kernels.Activations.LeakyReLUGrad(g.grad, g.pre, g.grad, attentionSlope)
	g.pullSum(back, z, g.grad)
	g.turnBack(dz, back, 0)
}
