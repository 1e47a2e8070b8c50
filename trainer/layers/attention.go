package layers

import (
	"slices"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// attentionSlope is the slope of LeakyReLU below 0 in the scores of attention.
const attentionSlope = 0.2

// Attention is the shape of an attention layer. Its result has Heads × Channels
// columns, head by head.
type Attention struct {
	Heads, Channels int
	// Dropout is the probability that an edge's weight is dropped for a head in
	// training. The others are scaled by 1/(1−Dropout), not normalised again.
	Dropout float64
}

// attention is what the attention layers share: scores per edge and head become
// weights by a softmax over the edges into a node, its loop included, and the
// weights sum messages up. Edge e of node i's closed neighbourhood and head h
// lie at e·heads + h.
type attention struct {
	Attention
	work *Workspace
	site uint64
	drop bool
	// pre is what the score is made of, weight the result of the softmax, mask
	// what dropout multiplies it by, and grad the gradient for the score.
	pre, weight, mask, grad []float32
}

func (b *Builder) attention(shape Attention) *attention {
	a := &attention{Attention: shape, work: b.Work, drop: b.Training && shape.Dropout > 0}
	if a.drop {
		a.site = b.site()
	}
	return a
}

// grow gives a buffer length n, reallocated only if it is too small.
func grow(buf *[]float32, n int) { *buf = slices.Grow((*buf)[:0], n)[:n] }

// prepare makes room for the batch's edges.
func (a *attention) prepare() {
	n := len(a.work.Batch.Graph.loopTargets) * a.Heads
	for _, buf := range []*[]float32{&a.pre, &a.weight, &a.mask, &a.grad} {
		grow(buf, n)
	}
}

// part returns head h of row i.
func (a *attention) part(m kernels.Matrix, i uint32, h int) []float32 {
	from := int(i)*m.Cols + h*a.Channels
	return m.Data[from : from+a.Channels : from+a.Channels]
}

// normalise turns the scores in weight into weights and draws the mask.
func (a *attention) normalise() {
	graph := a.work.Batch.Graph
	for i := range graph.Nodes {
		from, to := graph.loopStarts[i]*a.Heads, graph.loopStarts[i+1]*a.Heads
		for h := range a.Heads {
			largest := a.weight[from+h]
			for at := from + h; at < to; at += a.Heads {
				largest = max(largest, a.weight[at])
			}
			sum := float32(0)
			for at := from + h; at < to; at += a.Heads {
				a.weight[at] = exponential32(a.weight[at] - largest)
				sum += a.weight[at]
			}
			for at := from + h; at < to; at += a.Heads {
				a.weight[at] /= sum
			}
		}
		a.drawMask(i)
	}
}

func (a *attention) drawMask(i int) {
	graph, rest := a.work.Batch.Graph, float32(1)
	if a.drop {
		rest = 1 / float32(1-a.Dropout)
	}
	for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
		mask := a.mask[e*a.Heads : (e+1)*a.Heads]
		if !a.drop {
			for h := range mask {
				mask[h] = 1
			}
			continue
		}
		a.work.maskEdge(mask, a.site, i, int(graph.loopTargets[e]), float32(a.Dropout))
		for h := range mask {
			mask[h] *= rest
		}
	}
}

// maskEdge stores 0 or 1 for every head of the edge from other into row.
func (w *Workspace) maskEdge(mask []float32, site uint64, row, other int, p float32) {
	key := uint64(0)
	if w.Replace == nil {
		key = w.pairKey(site, row, other)
	}
	for h := range mask {
		var kept bool
		if w.Replace != nil {
			kept = w.Replace.Keep(Draw{Site: site, Row: row, Other: other, Column: h})
		} else {
			kept = uniform(key, h) >= p
		}
		mask[h] = 0
		if kept {
			mask[h] = 1
		}
	}
}

// aggregate stores Σ_j weight·mask·messages_j.
func (a *attention) aggregate(dst, messages kernels.Matrix) {
	graph := a.work.Batch.Graph
	clear(dst.Data)
	for i := range uint32(graph.Nodes) {
		for e := graph.loopStarts[i]; e < graph.loopStarts[i+1]; e++ {
			for h := range a.Heads {
				at := e*a.Heads + h
				axpy(a.part(dst, i, h), a.part(messages, graph.loopTargets[e], h), a.weight[at]*a.mask[at])
			}
		}
	}
}

// pull adds the gradient for the messages to theirs and leaves that for the
// scores in grad: weight·(d − Σ d·weight), d being the gradient for a weight.
func (a *attention) pull(g, messages, gradMessages kernels.Matrix) {
	graph := a.work.Batch.Graph
	for i := range uint32(graph.Nodes) {
		from, to := graph.loopStarts[i], graph.loopStarts[i+1]
		for h := range a.Heads {
			upstream, total := a.part(g, i, h), float32(0)
			for e := from; e < to; e++ {
				at, j := e*a.Heads+h, graph.loopTargets[e]
				axpy(a.part(gradMessages, j, h), upstream, a.weight[at]*a.mask[at])
				a.grad[at] = a.mask[at] * dot(upstream, a.part(messages, j, h))
				total += float32(a.grad[at] * a.weight[at])
			}
			for e := from; e < to; e++ {
				at := e*a.Heads + h
				a.grad[at] = a.weight[at] * (a.grad[at] - total)
			}
		}
	}
}

// byproduct is a node for values that another node's operator leaves behind.
func (b *Builder) byproduct(kind string, of *gorgonia.Node, values []float32, shape ...int) *gorgonia.Node {
	return b.apply(operation{
		kind: kind, inputs: gorgonia.Nodes{of}, out: dense(values, shape...),
		run: func([]gorgonia.Value) error { return nil },
	})
}

// HeadMean adds the mean over the heads of an attention layer's result.
func (b *Builder) HeadMean(x *gorgonia.Node, heads int) *gorgonia.Node {
	if b.err != nil || heads == 1 {
		return x
	}
	cols := width(x) / heads
	out, share := b.rows(cols), 1/float32(heads)
	return b.apply(operation{
		kind: "heads", inputs: gorgonia.Nodes{x}, out: out,
		run: func(in []gorgonia.Value) error {
			dst, from := b.live(out), b.live(in[0])
			clear(dst.Data)
			for i := range dst.Rows {
				for h := range heads {
					axpy(dst.Row(i), from.Row(i)[h*cols:(h+1)*cols], share)
				}
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(heads * cols)
			return gorgonia.Nodes{b.apply(operation{
				kind: "heads.x", inputs: gorgonia.Nodes{grad}, out: back,
				run: func(in []gorgonia.Value) error {
					dst, g := b.live(back), b.live(in[0])
					for i := range dst.Rows {
						for h := range heads {
							b.Work.kernels.Scale(dst.Row(i)[h*cols:(h+1)*cols], g.Row(i), share)
						}
					}
					return nil
				},
			})}
		},
	})
}
