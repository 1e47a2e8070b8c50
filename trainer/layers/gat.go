package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// gat is one GAT layer.
type gat struct {
	*attention
	// bySource and byTarget are each node's part in the scores, rows × heads,
	// and later the gradients for them.
	bySource, byTarget []float32
	// gradSource and gradTarget are the gradients for the attention vectors.
	gradSource, gradTarget []float32
}

// GAT adds a graph attention layer (Veličković et al., ICLR 2018) on z = x·W,
// which is rows × heads·channels: out_i = Σ_j α_ij·z_j per head, where α is the
// softmax over the edges into i, its loop included, of
// LeakyReLU(source·z_j + target·z_i). source and target have shape
// [1, heads, channels].
func (b *Builder) GAT(z, source, target *gorgonia.Node, shape Attention) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	g := &gat{attention: b.attention(shape)}
	g.bySource, g.byTarget = make([]float32, b.capacity*g.Heads), make([]float32, b.capacity*g.Heads)
	size := g.Heads * g.Channels
	g.gradSource, g.gradTarget = make([]float32, size), make([]float32, size)
	out := b.rows(size)
	return b.apply(operation{
		kind: "gat", inputs: gorgonia.Nodes{z, source, target}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			g.prepare()
			g.score(from, floats(in[1]), floats(in[2]))
			g.normalise()
			g.aggregate(b.live(out), from)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(size)
			gz := b.apply(operation{
				kind: "gat.x", inputs: gorgonia.Nodes{grad, y, z, source, target}, out: back,
				run: func(in []gorgonia.Value) error {
					g.backward(b.live(back), b.live(in[0]), b.live(in[2]), floats(in[3]), floats(in[4]))
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

func (g *gat) score(z kernels.Matrix, source, target []float32) {
	graph, c := g.work.Batch.Graph, g.Channels
	for i := range uint32(graph.Nodes) {
		for h := range g.Heads {
			row := g.part(z, i, h)
			g.bySource[int(i)*g.Heads+h] = dot(row, source[h*c:(h+1)*c])
			g.byTarget[int(i)*g.Heads+h] = dot(row, target[h*c:(h+1)*c])
		}
	}
	for i := range graph.Nodes {
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			j := int(graph.loopTargets[e])
			for h := range g.Heads {
				v := g.bySource[j*g.Heads+h] + g.byTarget[i*g.Heads+h]
				g.pre[e*g.Heads+h], g.weight[e*g.Heads+h] = v, leaky(v, attentionSlope)
			}
		}
	}
}

func (g *gat) backward(dz, upstream, z kernels.Matrix, source, target []float32) {
	graph, c := g.work.Batch.Graph, g.Channels
	clear(dz.Data)
	g.pull(upstream, z, dz)
	clear(g.bySource)
	clear(g.byTarget)
	for i := range graph.Nodes {
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			j := int(graph.loopTargets[e])
			for h := range g.Heads {
				at := e*g.Heads + h
				d := float32(g.grad[at] * leakySlope(g.pre[at], attentionSlope))
				g.bySource[j*g.Heads+h] += d
				g.byTarget[i*g.Heads+h] += d
			}
		}
	}
	clear(g.gradSource)
	clear(g.gradTarget)
	for i := range uint32(graph.Nodes) {
		for h := range g.Heads {
			at, row, gradRow := int(i)*g.Heads+h, g.part(z, i, h), g.part(dz, i, h)
			axpy(gradRow, source[h*c:(h+1)*c], g.bySource[at])
			axpy(gradRow, target[h*c:(h+1)*c], g.byTarget[at])
			axpy(g.gradSource[h*c:(h+1)*c], row, g.bySource[at])
			axpy(g.gradTarget[h*c:(h+1)*c], row, g.byTarget[at])
		}
	}
}
