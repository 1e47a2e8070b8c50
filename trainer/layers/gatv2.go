package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// gatv2 is one GATv2 layer.
type gatv2 struct {
	*attention
	// right and gradRight are the targets' halves of the pairs and the gradient for them, turned
	// like the attention vector and its gradient.
	right, gradRight, vector, turnedGradVector []float32
	gradVector                                 []float32
	pairs                                      kernels.Pairs
}

// GATv2 adds a graph attention layer with dynamic attention (Brody, Alon and Yahav, "How
// Attentive are Graph Attention Networks?", ICLR 2022) on pairs [l | r], the two linear layers of
// x, rows × 2·heads·channels: out_i = Σ_j α_ij·l_j per head, where α is the softmax over the
// edges into i, including its loop, of vector·LeakyReLU(l_j + r_i). vector has shape [1, heads,
// channels].
func GATv2(b *Builder, pairs, vector *gorgonia.Node, shape Attention) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	g := &gatv2{attention: newAttention(b, shape)}
	size := g.size()
	g.vector, g.gradVector, g.turnedGradVector = make([]float32, size), make([]float32, size), make([]float32, size)
	out := b.rows(size)
	return b.apply(operation{
		kind: "gatv2", inputs: gorgonia.Nodes{pairs, vector}, out: out,
		run: func(in []gorgonia.Value) error {
			g.prepare()
			left := g.turn(&g.messages, b.live(in[0]), 0)
			g.score(left, g.turn(&g.right, b.live(in[0]), size), floats(in[1]))
			g.normalise()
			g.aggregate(b.live(out), left)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(2 * size)
			gp := b.apply(operation{
				kind: "gatv2.x", inputs: gorgonia.Nodes{grad, y}, out: back,
				run: func(in []gorgonia.Value) error {
					g.backward(b.live(back), b.live(in[0]))
					return nil
				},
			})
			return gorgonia.Nodes{gp, b.byproduct("gatv2.vector", gp, g.gradVector, 1, g.Heads, g.Channels)}
		},
	})
}

func (g *gatv2) score(left, right kernels.Matrix, vector []float32) {
	graph := g.work.Batch.Graph
	g.turnVector(g.vector, vector)
	g.pairs = kernels.Pairs{Left: left, Vector: g.vector, Slope: attentionSlope, Heads: g.Heads}
	for i := range graph.Nodes {
		g.pairs.Rows, g.pairs.Right = graph.closed(i), right.Row(i)
		g.work.kernels.Heads.PairScores(g.into(g.weight, i), &g.pairs)
	}
}

// backward stores the gradient for the pairs, given that for the result.
func (g *gatv2) backward(dp, upstream kernels.Matrix) {
	graph, size := g.work.Batch.Graph, g.size()
	left := kernels.Matrix{Rows: dp.Rows, Cols: size, Data: g.messages}
	right := kernels.Matrix{Rows: dp.Rows, Cols: size, Data: g.right}
	gradLeft, gradRight := g.pull(upstream, left), g.zeros(&g.gradRight, dp.Rows)
	clear(g.turnedGradVector)
	p := &g.pairs
	p.GradLeft, p.GradVector = gradLeft, g.turnedGradVector
	for i := range graph.Nodes {
		p.Rows, p.Right, p.GradRight = graph.closed(i), right.Row(i), gradRight.Row(i)
		g.work.kernels.Heads.PairScoresGrad(p, g.into(g.grad, i))
	}
	g.turnBack(dp, gradLeft, 0)
	g.turnBack(dp, gradRight, size)
	g.turnVectorBack(g.gradVector, g.turnedGradVector)
}
