package loops

import "slices"

// few reports whether the assembly loops support a number of heads: a power of two up to 16.
func few(heads int) bool { return heads > 0 && heads <= group && heads&(heads-1) == 0 }

// headsCall holds the arguments of a loop over rows and heads. Strides are in bytes.
type headsCall struct {
	dst, x               *float32
	stride               int
	rows                 *uint32
	weights              *float32
	count, values, heads int
}

// permuteCall holds the arguments of the loop that permutes columns.
type permuteCall struct {
	dst, src                            *float32
	order                               *uint32
	dstStride, srcStride, rows, columns int
}

type avx512Heads struct{}

// SumHeadRows implements Heads.
func (avx512Heads) SumHeadRows(dst []float32, x Matrix, rows []uint32, weights []float32, heads int) {
	if len(rows) == 0 || len(dst) == 0 || !few(heads) {
		plainHeads{}.SumHeadRows(dst, x, rows, weights, heads)
		return
	}
	// Rows ascend, so checking the last one is sufficient; the assembly does not check.
	last := x.Row(int(rows[len(rows)-1]))[:len(dst)]
	c := headsCall{
		dst: &dst[0], x: &x.Data[0], stride: 4 * x.Cols, rows: &rows[0],
		weights: &weights[:len(rows)*heads][0], count: len(rows), values: len(last), heads: heads,
	}
	sumHeadRowsAVX512(&c)
}

// AddHeadRows implements Heads.
func (avx512Heads) AddHeadRows(dst Matrix, x []float32, rows []uint32, weights []float32, heads int) {
	if len(rows) == 0 || len(x) == 0 || !few(heads) {
		plainHeads{}.AddHeadRows(dst, x, rows, weights, heads)
		return
	}
	last := dst.Row(int(rows[len(rows)-1]))[:len(x)]
	c := headsCall{
		dst: &dst.Data[0], x: &x[0], stride: 4 * dst.Cols, rows: &rows[0],
		weights: &weights[:len(rows)*heads][0], count: len(rows), values: len(last), heads: heads,
	}
	addHeadRowsAVX512(&c)
}

// DotHeadRows implements Heads.
func (avx512Heads) DotHeadRows(dots, x []float32, y Matrix, rows []uint32, heads int) {
	if len(rows) == 0 || len(x) == 0 || !few(heads) {
		plainHeads{}.DotHeadRows(dots, x, y, rows, heads)
		return
	}
	last := y.Row(int(rows[len(rows)-1]))[:len(x)]
	c := headsCall{
		dst: &y.Data[0], x: &x[0], stride: 4 * y.Cols, rows: &rows[0],
		weights: &dots[:len(rows)*heads][0], count: len(rows), values: len(last), heads: heads,
	}
	dotHeadRowsAVX512(&c)
}

// Permute implements Heads.
func (avx512Heads) Permute(dst, src Matrix, to, from int, order []uint32) {
	if dst.Rows == 0 || len(order) == 0 {
		return
	}
	_, last := dst.Row(dst.Rows - 1)[to:to+len(order)], src.Row(dst.Rows - 1)[from:]
	for _, column := range order {
		_ = last[column]
	}
	c := permuteCall{
		dst: &dst.Data[to], src: &src.Data[from], order: &order[0],
		dstStride: 4 * dst.Cols, srcStride: 4 * src.Cols, rows: dst.Rows, columns: len(order),
	}
	if len(order) <= permuteNarrow && int(slices.Max(order)) < len(order) {
		permuteNarrowAVX512(&c)
		return
	}
	permuteAVX512(&c)
}

// permuteNarrow is the number of columns that permuteNarrowAVX512 holds in registers.
const permuteNarrow = 64

// Softmax implements Heads.
func (avx512Heads) Softmax(x []float32, heads int) {
	if len(x) == 0 || !few(heads) {
		plainHeads{}.Softmax(x, heads)
		return
	}
	softmaxAVX512(&x[0], len(x), heads)
}

// SoftmaxGrad implements Heads.
func (avx512Heads) SoftmaxGrad(g, y []float32, heads int) {
	if len(g) == 0 || !few(heads) {
		plainHeads{}.SoftmaxGrad(g, y, heads)
		return
	}
	y = y[:len(g)]
	softmaxGradAVX512(&g[0], &y[0], len(g), heads)
}

// check panics if the assembly would access memory outside a matrix or a vector.
func (p *Pairs) check(perHead []float32, more ...[]float32) {
	n := len(p.Vector)
	_, _, _ = p.Right[:n], perHead[:len(p.Rows)*p.Heads], p.Left.Row(int(p.Rows[len(p.Rows)-1]))[:n]
	for _, v := range more {
		_ = v[:n]
	}
}

// PairScores implements Heads.
func (avx512Heads) PairScores(scores []float32, p *Pairs) {
	if len(p.Rows) == 0 || len(p.Vector) == 0 || !few(p.Heads) {
		plainHeads{}.PairScores(scores, p)
		return
	}
	p.check(scores)
	pairScoresAVX512(p, &scores[0])
}

// PairScoresGrad implements Heads.
func (avx512Heads) PairScoresGrad(p *Pairs, grad []float32) {
	if len(p.Rows) == 0 || len(p.Vector) == 0 || !few(p.Heads) {
		plainHeads{}.PairScoresGrad(p, grad)
		return
	}
	p.check(grad, p.GradRight, p.GradVector, p.GradLeft.Row(int(p.Rows[len(p.Rows)-1])))
	pairScoresGradAVX512(p, &grad[0])
}

//go:noescape
func sumHeadRowsAVX512(c *headsCall)

//go:noescape
func addHeadRowsAVX512(c *headsCall)

//go:noescape
func dotHeadRowsAVX512(c *headsCall)

//go:noescape
func permuteAVX512(c *permuteCall)

//go:noescape
func permuteNarrowAVX512(c *permuteCall)

//go:noescape
func softmaxAVX512(x *float32, n, heads int)

//go:noescape
func softmaxGradAVX512(grad, y *float32, n, heads int)

//go:noescape
func pairScoresAVX512(p *Pairs, scores *float32)

//go:noescape
func pairScoresGradAVX512(p *Pairs, grad *float32)
