package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// gatv2 is one GATv2 layer.
type gatv2 struct {
	*attention
	// right and gradRight are the targets' halves of the pairs and the gradient for them, turned
	// like the attention vector and its gradient.
	right, gradRight, vector, turnedGradVector []float32
	gradVector                                 []float32
	pairs                                      loops.Pairs
}

// GATv2 adds a graph attention layer with dynamic attention (Brody, Alon and Yahav, "How
// Attentive are Graph Attention Networks?", ICLR 2022) on pairs [l | r], the two linear layers of
// x, rows × 2·heads·channels: out_i = Σ_j α_ij·l_j per head, where α is the softmax over the
// edges into i, including its loop, of vector·LeakyReLU(l_j + r_i). vector has shape [1, heads,
// channels].
func GATv2(b *layers.Builder, pairs, vector *gorgonia.Node, shape Attention) *gorgonia.Node {
	g := &gatv2{attention: newAttention(b, shape)}
	size := g.size()
	g.vector, g.gradVector, g.turnedGradVector = make([]float32, size), make([]float32, size), make([]float32, size)
	out := b.NewRows(size)
	return b.Apply(layers.Operation{
		Kind: "gatv2", Inputs: gorgonia.Nodes{pairs, vector}, Out: out,
		Run: func(in []gorgonia.Value) error {
			g.prepare()
			left := g.turn(&g.messages, b.Live(in[0]), 0)
			g.score(left, g.turn(&g.right, b.Live(in[0]), size), layers.Floats(in[1]))
			g.normalise()
			g.aggregate(b.Live(out), left)
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(2 * size)
			gp := b.Apply(layers.Operation{
				Kind: "gatv2.x", Inputs: gorgonia.Nodes{grad, y}, Out: back,
				Run: func(in []gorgonia.Value) error {
					g.backward(b.Live(back), b.Live(in[0]))
					return nil
				},
			})
			return gorgonia.Nodes{gp, byproduct(b, "gatv2.vector", gp, g.gradVector, 1, g.Heads, g.Channels)}
		},
	})
}

func (g *gatv2) score(left, right kernels.Matrix, vector []float32) {
	graph := derived(g.work).graph
	g.turnVector(g.vector, vector)
	g.pairs = loops.Pairs{Left: left, Vector: g.vector, Slope: attentionSlope, Heads: g.Heads}
	for i := range graph.Nodes {
		g.pairs.Rows, g.pairs.Right = graph.of(i), right.Row(i)
		loops.Of(g.work.Kernels).Heads.PairScores(g.into(g.weight, i), &g.pairs)
	}
}

// backward stores the gradient for the pairs, given that for the result.
func (g *gatv2) backward(dp, upstream kernels.Matrix) {
	graph, size := derived(g.work).graph, g.size()
	left := kernels.Matrix{Rows: dp.Rows, Cols: size, Data: g.messages}
	right := kernels.Matrix{Rows: dp.Rows, Cols: size, Data: g.right}
	gradLeft, gradRight := g.pull(upstream, left), g.zeros(&g.gradRight, dp.Rows)
	clear(g.turnedGradVector)
	p := &g.pairs
	p.GradLeft, p.GradVector = gradLeft, g.turnedGradVector
	for i := range graph.Nodes {
		p.Rows, p.Right, p.GradRight = graph.of(i), right.Row(i), gradRight.Row(i)
		loops.Of(g.work.Kernels).Heads.PairScoresGrad(p, g.into(g.grad, i))
	}
	g.turnBack(dp, gradLeft, 0)
	g.turnBack(dp, gradRight, size)
	g.turnVectorBack(g.gradVector, g.turnedGradVector)
}
