package loops

import "math"

// Heads are the loops of attention with several heads. A vector interleaves its heads: position p
// belongs to head p mod heads, so that the values of one channel are adjacent. Every set computes
// the same bits: sums are over the positions modulo 16 and are then added pairwise by halves or,
// if 16 is not a multiple of heads, over the positions of a head in ascending order.
//
// Lists of rows ascend, and have a value per row and head in the order of the list. Lengths of
// vectors are multiples of heads.
type Heads interface {
	// SumHeadRows stores Σ_e weights[e]·x[rows[e]] in dst, which has x.Cols values, using each
	// head's weight.
	SumHeadRows(dst []float32, x Matrix, rows []uint32, weights []float32, heads int)
	// AddHeadRows adds weights[e]·x to row rows[e] of dst for every e.
	AddHeadRows(dst Matrix, x []float32, rows []uint32, weights []float32, heads int)
	// DotHeadRows stores Σ x·y[rows[e]] per head for every e.
	DotHeadRows(dots, x []float32, y Matrix, rows []uint32, heads int)
	// Permute stores column order[p] of src, counted from column from, in column to+p of dst. The
	// matrices must not overlap.
	Permute(dst, src Matrix, to, from int, order []uint32)
	// Softmax replaces x by e^x / Σ e^x per head.
	Softmax(x []float32, heads int)
	// SoftmaxGrad replaces the gradient g for a softmax's result y by that for its argument, y·(g −
	// Σ g·y).
	SoftmaxGrad(g, y []float32, heads int)
	// PairScores stores the scores of the pairs.
	PairScores(scores []float32, p *Pairs)
	// PairScoresGrad accumulates the gradients for the inputs of the scores, given that for the
	// scores.
	PairScoresGrad(p *Pairs, grad []float32)
}

// Pairs are pairs of rows of Left with one vector, Right. The score of a pair is Σ
// Vector·LeakyReLU(left + right) per head.
type Pairs struct {
	Left          Matrix
	Rows          []uint32
	Right, Vector []float32
	// Slope is the slope of LeakyReLU.
	Slope float32
	Heads int
	// The gradients are used only by PairScoresGrad.
	GradLeft              Matrix
	GradRight, GradVector []float32
}

// group is the number of values that loops process at a time.
const group = 16

// folded sums values per head in the order that Heads specifies. at returns the value of a
// position.
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

type plainHeads struct{}

// SumHeadRows implements Heads.
func (plainHeads) SumHeadRows(dst []float32, x Matrix, rows []uint32, weights []float32, heads int) {
	clear(dst)
	for e, row := range rows {
		addByHead(dst, x.Row(int(row)), weights[e*heads:(e+1)*heads])
	}
}

// AddHeadRows implements Heads.
func (plainHeads) AddHeadRows(dst Matrix, x []float32, rows []uint32, weights []float32, heads int) {
	for e, row := range rows {
		addByHead(dst.Row(int(row)), x, weights[e*heads:(e+1)*heads])
	}
}

// addByHead adds w·x to dst, using each head's weight.
func addByHead(dst, x, w []float32) {
	dst = dst[:len(x)]
	for p := 0; p < len(x); p += len(w) {
		for h, weight := range w {
			dst[p+h] += float32(weight * x[p+h])
		}
	}
}

// DotHeadRows implements Heads.
func (plainHeads) DotHeadRows(dots, x []float32, y Matrix, rows []uint32, heads int) {
	for e, row := range rows {
		other := y.Row(int(row))[:len(x)]
		folded(dots[e*heads:(e+1)*heads], len(x), func(p int) float32 { return float32(x[p] * other[p]) })
	}
}

// Permute implements Heads.
func (plainHeads) Permute(dst, src Matrix, to, from int, order []uint32) {
	for i := range dst.Rows {
		out, in := dst.Row(i)[to:to+len(order)], src.Row(i)[from:]
		for p, column := range order {
			out[p] = in[column]
		}
	}
}

// Softmax implements Heads.
func (plainHeads) Softmax(x []float32, heads int) {
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
func (plainHeads) SoftmaxGrad(g, y []float32, heads int) {
	y = y[:len(g)]
	var room [group]float32
	totals := perHead(&room, heads)
	folded(totals, len(g), func(p int) float32 { return float32(g[p] * y[p]) })
	for p := range g {
		g[p] = y[p] * (g[p] - totals[p%heads])
	}
}

// perHead returns a slice with a value per head, from room if it is large enough.
func perHead(room *[group]float32, heads int) []float32 {
	if heads <= group {
		return room[:heads]
	}
	return make([]float32, heads)
}

// PairScores implements Heads.
func (plainHeads) PairScores(scores []float32, p *Pairs) {
	right := p.Right[:len(p.Vector)]
	for e, row := range p.Rows {
		left := p.Left.Row(int(row))[:len(p.Vector)]
		folded(scores[e*p.Heads:(e+1)*p.Heads], len(left), func(c int) float32 {
			v := left[c] + right[c]
			return float32(p.Vector[c] * float32(v*leakySlope(v, p.Slope)))
		})
	}
}

// PairScoresGrad implements Heads.
func (plainHeads) PairScoresGrad(p *Pairs, grad []float32) {
	for e, row := range p.Rows {
		left, gradLeft, d := p.Left.Row(int(row)), p.GradLeft.Row(int(row)), grad[e*p.Heads:(e+1)*p.Heads]
		for c, weight := range p.Vector {
			v := left[c] + p.Right[c]
			s, upstream := leakySlope(v, p.Slope), d[c%len(d)]
			p.GradVector[c] += float32(upstream * float32(v*s))
			v = float32(float32(upstream*s) * weight)
			gradLeft[c] += v
			p.GradRight[c] += v
		}
	}
}
