package graphlayers

import (
	"slices"

	"gorgonia.org/gorgonia"

	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// attentionSlope is the slope of LeakyReLU below 0 in the scores of attention.
const attentionSlope = 0.2

// Attention is the shape of an attention layer. Its result has Heads × Channels
// columns, head by head.
type Attention struct {
	Heads, Channels int
	// Dropout is the probability that an edge's weight is dropped for a head in training. The others
	// are scaled by 1/(1−Dropout), not normalised again.
	Dropout float64
}

// attention is shared by the attention layers: scores per edge and head become weights by a
// softmax over the edges into a node, including its loop, and messages are summed with these
// weights. Edge e of node i's closed neighbourhood and head h are at e·heads + h. Matrices are
// permuted ("turned") so that the heads of a channel are adjacent (kernels.Heads), and results
// are permuted back.
type attention struct {
	Attention
	work *layers.Workspace
	site uint64
	drop bool
	// order and back are the permutations from a row to a turned row and back.
	order, back []uint32
	// pre is the input of the score, weight the result of the softmax, mask the factor of dropout,
	// used their product, and grad the gradient for the score.
	pre, weight, mask, used, grad []float32
	// Turned matrices: the messages, their sums, and the gradients for both.
	messages, sums, upstream, gradMessages []float32
}

func newAttention(b *layers.Builder, shape Attention) *attention {
	a := &attention{
		Attention: shape, work: b.Work, drop: b.Training && shape.Dropout > 0,
		order: interleaved(shape.Heads, shape.Channels), back: interleaved(shape.Channels, shape.Heads),
	}
	if a.drop {
		a.site = b.Site()
	}
	return a
}

// grow gives a buffer length n, reallocated only if it is too small.
func grow(buf *[]float32, n int) []float32 {
	*buf = slices.Grow((*buf)[:0], n)[:n]
	return *buf
}

// prepare allocates for the batch's edges.
func (a *attention) prepare() {
	n := len(derived(a.work).graph.targets) * a.Heads
	for _, buf := range []*[]float32{&a.pre, &a.weight, &a.grad} {
		grow(buf, n)
	}
	if a.drop {
		grow(&a.mask, n)
		grow(&a.used, n)
	}
}

// size is the number of columns of the result.
func (a *attention) size() int { return a.Heads * a.Channels }

// turn returns the columns of m starting at from, permuted so that the heads of a channel are
// adjacent.
func (a *attention) turn(buf *[]float32, m kernels.Matrix, from int) kernels.Matrix {
	t := kernels.Matrix{Rows: m.Rows, Cols: a.size(), Data: grow(buf, m.Rows*a.size())}
	loops.Of(a.work.Kernels).Heads.Permute(t, m, 0, from, a.order)
	return t
}

// turnBack stores t, permuted back, in the columns of dst starting at from.
func (a *attention) turnBack(dst, t kernels.Matrix, from int) {
	loops.Of(a.work.Kernels).Heads.Permute(dst, t, from, 0, a.back)
}

// zeros returns a turned matrix of zeros.
func (a *attention) zeros(buf *[]float32, rows int) kernels.Matrix {
	t := kernels.Matrix{Rows: rows, Cols: a.size(), Data: grow(buf, rows*a.size())}
	clear(t.Data)
	return t
}

// turnVector and turnVectorBack permute an attention vector.
func (a *attention) turnVector(dst, v []float32) { a.permute(dst, v, a.order) }

func (a *attention) turnVectorBack(dst, t []float32) { a.permute(dst, t, a.back) }

func (a *attention) permute(dst, src []float32, order []uint32) {
	row := func(v []float32) kernels.Matrix { return kernels.Matrix{Rows: 1, Cols: len(v), Data: v} }
	loops.Of(a.work.Kernels).Heads.Permute(row(dst), row(src), 0, 0, order)
}

// interleaved is the permutation that interleaves consecutive parts of a length: one value of
// each part, then the next of each.
func interleaved(parts, length int) []uint32 {
	order := make([]uint32, 0, parts*length)
	for i := range length {
		for part := range parts {
			order = append(order, uint32(part*length+i))
		}
	}
	return order
}

// edge returns the values of an edge, or of a row, one per head.
func (a *attention) edge(values []float32, e int) []float32 {
	return values[e*a.Heads : (e+1)*a.Heads : (e+1)*a.Heads]
}

// into returns the values of the edges into a node.
func (a *attention) into(values []float32, i int) []float32 {
	graph := derived(a.work).graph
	return values[graph.starts[i]*a.Heads : graph.starts[i+1]*a.Heads]
}

// normalise converts the scores in weight into weights and draws the mask.
func (a *attention) normalise() {
	graph := derived(a.work).graph
	for i := range graph.Nodes {
		loops.Of(a.work.Kernels).Heads.Softmax(a.into(a.weight, i), a.Heads)
	}
	if !a.drop {
		a.used = a.weight
		return
	}
	for i := range graph.Nodes {
		a.drawMask(i)
	}
	a.work.Kernels.Elements.Multiply(a.used, a.weight, a.mask)
}

// drawMask stores 0 or 1/(1−Dropout) for the edges into a node.
func (a *attention) drawMask(i int) {
	graph, w := derived(a.work).graph, a.work
	rest, limit := kept(a.Dropout), dropLimit(a.Dropout)
	if derived(w).Replace != nil {
		for e := graph.starts[i]; e < graph.starts[i+1]; e++ {
			for h := range a.edge(a.mask, e) {
				a.mask[e*a.Heads+h] = 0
				if derived(w).Replace.Keep(Draw{Site: a.site, Row: i, Other: int(graph.targets[e]), Column: h}) {
					a.mask[e*a.Heads+h] = rest
				}
			}
		}
		return
	}
	key := rowKey(w, a.site, i)
	for e := graph.starts[i]; e < graph.starts[i+1]; e++ {
		loops.Of(w.Kernels).Draws.Mask(a.edge(a.mask, e), pairKey(w, key, int(graph.targets[e])), limit, rest)
	}
}

// aggregate stores Σ_j used·messages_j in dst; messages are turned.
func (a *attention) aggregate(dst, messages kernels.Matrix) {
	graph := derived(a.work).graph
	sums := kernels.Matrix{Rows: dst.Rows, Cols: dst.Cols, Data: grow(&a.sums, len(dst.Data))}
	for i := range graph.Nodes {
		loops.Of(a.work.Kernels).Heads.SumHeadRows(sums.Row(i), messages, graph.of(i), a.into(a.used, i), a.Heads)
	}
	a.turnBack(dst, sums, 0)
}

// pull returns the gradient for the turned messages and stores that for the scores in grad:
// weight·(d − Σ d·weight), where d is the gradient for a weight.
func (a *attention) pull(g, messages kernels.Matrix) kernels.Matrix {
	graph, k := derived(a.work).graph, loops.Of(a.work.Kernels)
	upstream, back := a.turn(&a.upstream, g, 0), a.zeros(&a.gradMessages, g.Rows)
	for i := range graph.Nodes {
		row, list := upstream.Row(i), graph.of(i)
		k.Heads.AddHeadRows(back, row, list, a.into(a.used, i), a.Heads)
		k.Heads.DotHeadRows(a.into(a.grad, i), row, messages, list, a.Heads)
	}
	if a.drop {
		a.work.Kernels.Elements.Multiply(a.grad, a.grad, a.mask)
	}
	for i := range graph.Nodes {
		k.Heads.SoftmaxGrad(a.into(a.grad, i), a.into(a.weight, i), a.Heads)
	}
	return back
}

// byproduct adds a node for values that another node's operator computes as a side effect.
func byproduct(b *layers.Builder, kind string, of *gorgonia.Node, values []float32, shape ...int) *gorgonia.Node {
	return b.Apply(layers.Operation{
		Kind: kind, Inputs: gorgonia.Nodes{of}, Out: layers.Dense(values, shape...),
		Run: func([]gorgonia.Value) error { return nil },
	})
}
