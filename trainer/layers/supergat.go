package layers

import (
	"math"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// SelfSupervision is the attention loss of a SuperGAT layer.
type SelfSupervision struct {
	// Weight is what the loss counts for.
	Weight float64
	// EdgeRatio is the share of the edges, loops included, that are sampled as
	// positive. NegativeRatio is the number of pairs without an edge that are
	// sampled per sampled edge, in expectation.
	EdgeRatio, NegativeRatio float64
}

// superGAT is one SuperGAT layer.
type superGAT struct {
	*attention
	loss SelfSupervision
	pick uint64
	// bySource and byTarget are each node's part in the scores, rows × heads,
	// and later the gradients for them; inner is z_i·z_j per edge and head.
	bySource, byTarget, inner []float32
	gradSource, gradTarget    []float32
	pairs                     []Pair
}

// Pair is a pair of rows whose edge an attention loss asks about.
type Pair struct {
	Source, Target uint32
	Edge           bool
	// logit is the mean of z_i·z_j over the heads.
	logit float32
}

// SuperGAT adds a SuperGAT layer of the kind MX (Kim and Oh, "How to Find Your
// Friendly Neighborhood", ICLR 2021) on z = x·W, rows × heads·channels: out_i =
// Σ_j α_ij·z_j per head, where α is the softmax over the edges into i, its loop
// included, of LeakyReLU((source·z_j + target·z_i)·sigmoid(z_i·z_j)). source and
// target have shape [1, heads, channels].
//
// In training a loss is added to Workspace.Attention: Weight times the mean
// binary cross entropy, over the sampled pairs, of sigmoid of the mean of
// z_i·z_j over the heads. Its gradient joins that of z here. Each pair is drawn
// by the key of the step, the layer and its two nodes.
func (b *Builder) SuperGAT(z, source, target *gorgonia.Node, shape Attention, loss SelfSupervision) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	g := &superGAT{attention: b.attention(shape), loss: loss, pick: b.site()}
	if !b.Training {
		g.loss.Weight = 0
	}
	size := g.Heads * g.Channels
	g.bySource, g.byTarget = make([]float32, b.capacity*g.Heads), make([]float32, b.capacity*g.Heads)
	g.gradSource, g.gradTarget = make([]float32, size), make([]float32, size)
	out := b.rows(size)
	return b.apply(operation{
		kind: "supergat", inputs: gorgonia.Nodes{z, source, target}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			g.prepare()
			grow(&g.inner, len(g.weight))
			g.score(from, floats(in[1]), floats(in[2]))
			g.normalise()
			g.aggregate(b.live(out), from)
			if g.loss.Weight > 0 {
				g.sample()
				g.work.Attention += float64(g.loss.Weight * g.attentionLoss(from))
			}
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(size)
			gz := b.apply(operation{
				kind: "supergat.x", inputs: gorgonia.Nodes{grad, y, z, source, target}, out: back,
				run: func(in []gorgonia.Value) error {
					dz, from := b.live(back), b.live(in[2])
					g.backward(dz, b.live(in[0]), from, floats(in[3]), floats(in[4]))
					if g.loss.Weight > 0 {
						g.attentionGrad(dz, from)
					}
					return nil
				},
			})
			return gorgonia.Nodes{
				gz, b.byproduct("supergat.source", gz, g.gradSource, 1, g.Heads, g.Channels),
				b.byproduct("supergat.target", gz, g.gradTarget, 1, g.Heads, g.Channels),
			}
		},
	})
}

func (g *superGAT) score(z kernels.Matrix, source, target []float32) {
	graph, c := g.work.Batch.Graph, g.Channels
	for i := range uint32(graph.Nodes) {
		for h := range g.Heads {
			row := g.part(z, i, h)
			g.bySource[int(i)*g.Heads+h] = dot(row, source[h*c:(h+1)*c])
			g.byTarget[int(i)*g.Heads+h] = dot(row, target[h*c:(h+1)*c])
		}
	}
	for i := range uint32(graph.Nodes) {
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			j := graph.loopTargets[e]
			for h := range g.Heads {
				at := e*g.Heads + h
				g.inner[at] = dot(g.part(z, i, h), g.part(z, j, h))
				g.pre[at] = g.bySource[int(j)*g.Heads+h] + g.byTarget[int(i)*g.Heads+h]
				g.weight[at] = leaky(g.pre[at]*sigmoid(g.inner[at]), attentionSlope)
			}
		}
	}
}

func (g *superGAT) backward(dz, upstream, z kernels.Matrix, source, target []float32) {
	graph, c := g.work.Batch.Graph, g.Channels
	clear(dz.Data)
	g.pull(upstream, z, dz)
	clear(g.bySource)
	clear(g.byTarget)
	for i := range uint32(graph.Nodes) {
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			j := graph.loopTargets[e]
			for h := range g.Heads {
				at := e*g.Heads + h
				gate := sigmoid(g.inner[at])
				d := g.grad[at] * leakySlope(g.pre[at], attentionSlope)
				g.bySource[int(j)*g.Heads+h] += float32(d * gate)
				g.byTarget[int(i)*g.Heads+h] += float32(d * gate)
				d *= g.pre[at] * gate * (1 - gate)
				axpy(g.part(dz, i, h), g.part(z, j, h), d)
				axpy(g.part(dz, j, h), g.part(z, i, h), d)
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

// sample draws the pairs of the attention loss.
func (g *superGAT) sample() {
	if g.work.Replace != nil {
		g.pairs = g.work.Replace.Pairs(g.pick)
		return
	}
	graph := g.work.Batch.Graph
	edges, n := len(graph.loopTargets), graph.Nodes
	free := n*n - edges
	share := float32(0)
	if free > 0 {
		share = float32(g.loss.EdgeRatio * g.loss.NegativeRatio * float64(edges) / float64(free))
	}
	g.pairs = g.pairs[:0]
	for i := range n {
		key, closed := g.work.rowKey(g.pick, i)+0x9e3779b97f4a7c15, graph.closed(i)
		for j, other := range g.work.Batch.Keys {
			edge := len(closed) > 0 && int(closed[0]) == j
			limit := share
			if edge {
				closed, limit = closed[1:], float32(g.loss.EdgeRatio)
			}
			if uniform(mixKey(key^other), 0) < limit {
				g.pairs = append(g.pairs, Pair{Source: uint32(j), Target: uint32(i), Edge: edge})
			}
		}
	}
}

// attentionLoss is the mean binary cross entropy of the pairs; it leaves their
// logits.
func (g *superGAT) attentionLoss(z kernels.Matrix) float64 {
	total := 0.0
	for k := range g.pairs {
		p := &g.pairs[k]
		p.logit = dot(z.Row(int(p.Source)), z.Row(int(p.Target))) / float32(g.Heads)
		// log(1 + e^-|x|) + max(∓x, 0) never overflows.
		x := float64(p.logit)
		wrong := x
		if p.Edge {
			wrong = -x
		}
		total += math.Log(1+exponential(-math.Abs(x))) + max(wrong, 0)
	}
	return total / max(1, float64(len(g.pairs)))
}

// attentionGrad adds the gradient of the attention loss to that for z.
func (g *superGAT) attentionGrad(dz, z kernels.Matrix) {
	share := float32(g.loss.Weight / max(1, float64(len(g.pairs))) / float64(g.Heads))
	for _, p := range g.pairs {
		d := sigmoid(p.logit)
		if p.Edge {
			d--
		}
		d *= share
		axpy(dz.Row(int(p.Target)), z.Row(int(p.Source)), d)
		axpy(dz.Row(int(p.Source)), z.Row(int(p.Target)), d)
	}
}
