package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// gatv2 is one GATv2 layer.
type gatv2 struct {
	*attention
	// gradVector is the gradient for the attention vector.
	gradVector []float32
}

// GATv2 adds a graph attention layer with dynamic attention (Brody, Alon and
// Yahav, "How Attentive are Graph Attention Networks?", ICLR 2022) on pairs
// [l | r], the two linear layers of x, rows × 2·heads·channels: out_i =
// Σ_j α_ij·l_j per head, where α is the softmax over the edges into i, its loop
// included, of vector·LeakyReLU(l_j + r_i). vector has shape
// [1, heads, channels].
func (b *Builder) GATv2(pairs, vector *gorgonia.Node, shape Attention) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	size := shape.Heads * shape.Channels
	g := &gatv2{attention: b.attention(shape), gradVector: make([]float32, size)}
	out := b.rows(size)
	return b.apply(operation{
		kind: "gatv2", inputs: gorgonia.Nodes{pairs, vector}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			g.prepare()
			g.score(from, floats(in[1]))
			g.normalise()
			g.aggregate(b.live(out), from)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(2 * size)
			gp := b.apply(operation{
				kind: "gatv2.x", inputs: gorgonia.Nodes{grad, y, pairs, vector}, out: back,
				run: func(in []gorgonia.Value) error {
					g.backward(b.live(back), b.live(in[0]), b.live(in[2]), floats(in[3]))
					return nil
				},
			})
			return gorgonia.Nodes{gp, b.byproduct("gatv2.vector", gp, g.gradVector, 1, g.Heads, g.Channels)}
		},
	})
}

func (g *gatv2) score(pairs kernels.Matrix, vector []float32) {
	graph, size := g.work.Batch.Graph, g.Heads*g.Channels
	for i := range graph.Nodes {
		right := pairs.Row(i)[size:]
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			left := pairs.Row(int(graph.loopTargets[e]))[:size]
			for h := range g.Heads {
				sum, from := float32(0), h*g.Channels
				for c := from; c < from+g.Channels; c++ {
					sum += float32(vector[c] * leaky(left[c]+right[c], attentionSlope))
				}
				g.weight[e*g.Heads+h] = sum
			}
		}
	}
}

func (g *gatv2) backward(dp, upstream, pairs kernels.Matrix, vector []float32) {
	graph, size := g.work.Batch.Graph, g.Heads*g.Channels
	clear(dp.Data)
	g.pull(upstream, pairs, dp)
	clear(g.gradVector)
	for i := range graph.Nodes {
		right, gradRight := pairs.Row(i)[size:], dp.Row(i)[size:]
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			j := int(graph.loopTargets[e])
			left, gradLeft := pairs.Row(j)[:size], dp.Row(j)[:size]
			for h := range g.Heads {
				d, from := g.grad[e*g.Heads+h], h*g.Channels
				for c := from; c < from+g.Channels; c++ {
					v := left[c] + right[c]
					slope := leakySlope(v, attentionSlope)
					g.gradVector[c] += float32(d * float32(v*slope))
					v = float32(d * slope * vector[c])
					gradLeft[c] += v
					gradRight[c] += v
				}
			}
		}
	}
}
