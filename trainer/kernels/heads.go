package kernels

import "math"

// Heads are the loops of attention with several heads. A vector holds its heads
// side by side: position p belongs to head p mod heads, so that the values of
// one channel lie next to each other. Every set computes the same bits: sums are
// taken over the positions modulo 16 and then halves added to halves, or, if 16
// is no multiple of heads, over the positions of a head in ascending order.
//
// The number of heads is the length of dst, w, score or d, or is given; the
// lengths of the other vectors are multiples of it.
type Heads interface {
	// SumHeads stores Σ x·y per head.
	SumHeads(dst, x, y []float32)
	// AddHeads adds w·x to dst, w being that of the head.
	AddHeads(dst, x, w []float32)
	// Softmax replaces x by e^x / Σ e^x per head.
	Softmax(x []float32, heads int)
	// SoftmaxGrad replaces the gradient g for a softmax's result y by that for
	// its argument, y·(g − Σ g·y).
	SoftmaxGrad(g, y []float32, heads int)
	// PairScore stores Σ vector·LeakyReLU(left + right) per head.
	PairScore(score, left, right, vector []float32, slope float32)
	// PairScoreGrad adds the gradients for a pair's and the attention vector,
	// given that for the scores, d. The gradient for left is that for right.
	PairScoreGrad(p *PairGrad, d []float32, slope float32)
}

// PairGrad holds the vectors of PairScore and the gradients for them.
type PairGrad struct {
	Left, Right, Vector             []float32
	GradLeft, GradRight, GradVector []float32
}

// group is how many values the loops take at a time.
const group = 16

// folded sums values per head in the order that Heads promises. at gives the
// value of a position.
func folded(dst []float32, length int, at func(p int) float32) {
	heads := len(dst)
	if group%heads != 0 {
		clear(dst)
		for p := range length {
			dst[p%heads] += at(p)
		}
		return
	}
	var sums [group]float32
	for p := range length {
		sums[p%group] += at(p)
	}
	for half := group / 2; half >= heads; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	copy(dst, sums[:])
}

// SumHeads implements Heads.
func (plain) SumHeads(dst, x, y []float32) {
	y = y[:len(x)]
	folded(dst, len(x), func(p int) float32 { return float32(x[p] * y[p]) })
}

// AddHeads implements Heads.
func (plain) AddHeads(dst, x, w []float32) {
	dst = dst[:len(x)]
	for p := 0; p < len(x); p += len(w) {
		for h, weight := range w {
			dst[p+h] += float32(weight * x[p+h])
		}
	}
}

// Softmax implements Heads.
func (plain) Softmax(x []float32, heads int) {
	for h := range heads {
		largest := float32(math.Inf(-1))
		for p := h; p < len(x); p += heads {
			if x[p] > largest {
				largest = x[p]
			}
		}
		for p := h; p < len(x); p += heads {
			x[p] = exponential(x[p] - largest)
		}
	}
	var room [group]float32
	sums := perHead(&room, heads)
	folded(sums, len(x), func(p int) float32 { return x[p] })
	for p := range x {
		x[p] /= sums[p%heads]
	}
}

// SoftmaxGrad implements Heads.
func (plain) SoftmaxGrad(g, y []float32, heads int) {
	y = y[:len(g)]
	var room [group]float32
	totals := perHead(&room, heads)
	folded(totals, len(g), func(p int) float32 { return float32(g[p] * y[p]) })
	for p := range g {
		g[p] = y[p] * (g[p] - totals[p%heads])
	}
}

// perHead returns a value per head, from room if there is enough.
func perHead(room *[group]float32, heads int) []float32 {
	if heads <= group {
		return room[:heads]
	}
	return make([]float32, heads)
}

// PairScore implements Heads.
func (plain) PairScore(score, left, right, vector []float32, slope float32) {
	left, right = left[:len(vector)], right[:len(vector)]
	folded(score, len(vector), func(p int) float32 {
		v := left[p] + right[p]
		return float32(vector[p] * float32(v*leakySlope(v, slope)))
	})
}

// PairScoreGrad implements Heads.
func (plain) PairScoreGrad(g *PairGrad, d []float32, slope float32) {
	for p, weight := range g.Vector {
		v := g.Left[p] + g.Right[p]
		s, upstream := leakySlope(v, slope), d[p%len(d)]
		g.GradVector[p] += float32(upstream * float32(v*s))
		v = float32(upstream * s * weight)
		g.GradLeft[p] += v
		g.GradRight[p] += v
	}
}
