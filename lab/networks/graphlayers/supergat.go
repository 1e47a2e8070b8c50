package graphlayers

import (
	"math"

	"gorgonia.org/gorgonia"

	"lethe/internal/portable/gomath"
	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// SelfSupervision is the attention loss of a SuperGAT layer.
type SelfSupervision struct {
	// Weight is the weight of the loss.
	Weight float64
	// EdgeRatio is the share of the edges, including loops, that are sampled as positive.
	// NegativeRatio is the expected number of non-adjacent pairs sampled per sampled edge.
	EdgeRatio, NegativeRatio float64
}

// superGAT is one SuperGAT layer.
type superGAT struct {
	ends
	loss SelfSupervision
	pick uint64
	// gate is sigmoid(z_i·z_j) per edge and head, score its product with pre.
	gate, score []float32
	pairs       []Pair
	// strangers are the rows drawn for non-adjacent pairs.
	strangers []uint32
	// other and logit are the source of a pair and its z_i·z_j, summed over the heads.
	other [1]uint32
	logit [1]float32
}

// Pair is a pair of rows whose adjacency an attention loss predicts.
type Pair struct {
	Source, Target uint32
	Edge           bool
	// wrong is the predicted probability of the wrong answer, from the mean of z_i·z_j over the
	// heads.
	wrong float64
}

// SuperGAT adds a SuperGAT layer of the kind MX (Kim and Oh, "How to Find Your Friendly
// Neighborhood", ICLR 2021) on z = x·W, rows × heads·channels: out_i = Σ_j α_ij·z_j per head,
// where α is the softmax over the edges into i, including its loop, of LeakyReLU((source·z_j +
// target·z_i)·sigmoid(z_i·z_j)). source and target have shape [1, heads, channels].
//
// In training a loss is added to Workspace.Attention: Weight times the mean binary cross entropy,
// over the sampled pairs, of the sigmoid of the mean of z_i·z_j over the heads. Its gradient is
// added to that of z. Each pair is drawn with the key of the step, the layer and its two nodes.
func SuperGAT(
	b *layers.Builder, z, source, target *gorgonia.Node, shape Attention, loss SelfSupervision,
) *gorgonia.Node {
	g := &superGAT{ends: newEnds(b, shape), loss: loss, pick: b.Site()}
	if !b.Training {
		g.loss.Weight = 0
	}
	out := b.NewRows(g.size())
	return b.Apply(layers.Operation{
		Kind: "supergat", Inputs: gorgonia.Nodes{z, source, target}, Out: out,
		Run: func(in []gorgonia.Value) error {
			g.prepare()
			grow(&g.gate, len(g.weight))
			grow(&g.score, len(g.weight))
			z := g.turn(&g.messages, b.Live(in[0]), 0)
			g.sum(z, layers.Floats(in[1]), layers.Floats(in[2]))
			g.scoreEdges(z)
			g.normalise()
			g.aggregate(b.Live(out), z)
			if g.loss.Weight > 0 {
				g.sample()
				g.work.Attention += float64(g.loss.Weight * g.attentionLoss(z))
			}
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(g.size())
			gz := b.Apply(layers.Operation{
				Kind: "supergat.x", Inputs: gorgonia.Nodes{grad, y}, Out: back,
				Run: func(in []gorgonia.Value) error {
					g.backward(b.Live(back), b.Live(in[0]))
					return nil
				},
			})
			return gorgonia.Nodes{
				gz, byproduct(b, "supergat.source", gz, g.gradSource, 1, g.Heads, g.Channels),
				byproduct(b, "supergat.target", gz, g.gradTarget, 1, g.Heads, g.Channels),
			}
		},
	})
}

// scoreEdges stores sigmoid(z_i·z_j) in gate, and its product with the sum of the ends in score
// (before LeakyReLU) and weight (after it).
func (g *superGAT) scoreEdges(z kernels.Matrix) {
	graph, k := derived(g.work).graph, loops.Of(g.work.Kernels)
	for i := range graph.Nodes {
		k.Heads.DotHeadRows(g.into(g.gate, i), z.Row(i), z, graph.of(i), g.Heads)
	}
	k.Activations.Sigmoid(g.gate, g.gate)
	g.work.Kernels.Elements.Multiply(g.score, g.pre, g.gate)
	k.Activations.LeakyReLU(g.weight, g.score, attentionSlope)
}

// backward stores the gradient for z, given that for the result.
func (g *superGAT) backward(dz, upstream kernels.Matrix) {
	graph, k := derived(g.work).graph, loops.Of(g.work.Kernels)
	z := kernels.Matrix{Rows: dz.Rows, Cols: dz.Cols, Data: g.messages}
	back := g.pull(upstream, z)
	k.Activations.LeakyReLUGrad(g.grad, g.score, g.grad, attentionSlope)
	// The gradient for a sum of ends is d·gate, that for z_i·z_j is d·sum·gate·(1 − gate).
	g.work.Kernels.Elements.Multiply(g.grad, g.grad, g.gate)
	own := g.turnedGradSource // free until pullSum
	for at, gate := range g.gate {
		g.score[at] = g.grad[at] * g.pre[at] * (1 - gate)
	}
	for i := range graph.Nodes {
		list, d := graph.of(i), g.into(g.score, i)
		k.Heads.AddHeadRows(back, z.Row(i), list, d, g.Heads)
		k.Heads.SumHeadRows(own, z, list, d, g.Heads)
		g.work.Kernels.Elements.Add(back.Row(i), own)
	}
	g.pullSum(back, z, g.grad)
	if g.loss.Weight > 0 {
		g.attentionGrad(back, z)
	}
	g.turnBack(dz, back, 0)
}

// sample draws the pairs of the attention loss.
func (g *superGAT) sample() {
	if derived(g.work).Replace != nil {
		g.pairs = derived(g.work).Replace.Pairs(g.pick)
		return
	}
	graph := derived(g.work).graph
	edges, n := len(graph.targets), graph.Nodes
	free := n*n - edges
	positive, negative := dropLimit(g.loss.EdgeRatio), uint64(0)
	if free > 0 {
		negative = dropLimit(min(1, g.loss.EdgeRatio*g.loss.NegativeRatio*float64(edges)/float64(free)))
	}
	g.pairs = g.pairs[:0]
	for i := range n {
		key, closed := rowKey(g.work, g.pick, i), graph.of(i)
		g.strangers = drawn(g.work, g.strangers[:0], key, negative)
		for _, j := range g.strangers {
			for len(closed) > 0 && closed[0] < j {
				g.ask(i, closed[0], key, positive)
				closed = closed[1:]
			}
			if len(closed) == 0 || closed[0] != j {
				g.pairs = append(g.pairs, Pair{Source: j, Target: uint32(i)})
			}
		}
		for _, j := range closed {
			g.ask(i, j, key, positive)
		}
	}
}

// ask samples an edge if its draw is below the limit.
func (g *superGAT) ask(target int, source uint32, key, limit uint64) {
	if pairKey(g.work, key, int(source))>>32 < limit {
		g.pairs = append(g.pairs, Pair{Source: source, Target: uint32(target), Edge: true})
	}
}

// attentionLoss returns the mean binary cross entropy of the pairs, and stores each pair's wrong.
func (g *superGAT) attentionLoss(z kernels.Matrix) float64 {
	total := 0.0
	for k := range g.pairs {
		p := &g.pairs[k]
		g.other[0] = p.Source
		loops.Of(g.work.Kernels).Heads.DotHeadRows(g.logit[:], z.Row(int(p.Target)), z, g.other[:], 1)
		// log(1 + e^-|x|) + max(x, 0) never overflows.
		x := float64(g.logit[0] / float32(g.Heads))
		if p.Edge {
			x = -x
		}
		e := layers.Exponential(-math.Abs(x))
		total += gomath.Log(1+e) + max(x, 0)
		p.wrong = 1 / (1 + e)
		if x < 0 {
			p.wrong *= e
		}
	}
	return total / max(1, float64(len(g.pairs)))
}

// attentionGrad adds the gradient of the attention loss to that for z.
func (g *superGAT) attentionGrad(dz, z kernels.Matrix) {
	share := float32(g.loss.Weight / max(1, float64(len(g.pairs))) / float64(g.Heads))
	for k := range g.pairs {
		p := &g.pairs[k]
		d := float32(p.wrong)
		if p.Edge {
			d = -d
		}
		d *= share
		g.work.Kernels.Rows.Axpy(dz.Row(int(p.Target)), z.Row(int(p.Source)), d)
		g.work.Kernels.Rows.Axpy(dz.Row(int(p.Source)), z.Row(int(p.Target)), d)
	}
}
