package kernels

// few tells whether the loops in assembly take a number of heads: a power of two
// up to 16.
func few(heads int) bool { return heads > 0 && group%heads == 0 }

// SumHeads implements Heads.
func (avx512Loops) SumHeads(dst, x, y []float32) {
	if len(x) == 0 || !few(len(dst)) {
		plain{}.SumHeads(dst, x, y)
		return
	}
	y = y[:len(x)]
	sumHeadsAVX512(&dst[0], &x[0], &y[0], len(x), len(dst))
}

// AddHeads implements Heads.
func (avx512Loops) AddHeads(dst, x, w []float32) {
	if len(x) == 0 || !few(len(w)) {
		plain{}.AddHeads(dst, x, w)
		return
	}
	dst = dst[:len(x)]
	addHeadsAVX512(&dst[0], &x[0], &w[0], len(x), len(w))
}

// Softmax implements Heads.
func (avx512Loops) Softmax(x []float32, heads int) {
	if len(x) == 0 || !few(heads) {
		plain{}.Softmax(x, heads)
		return
	}
	softmaxAVX512(&x[0], len(x), heads)
}

// SoftmaxGrad implements Heads.
func (avx512Loops) SoftmaxGrad(g, y []float32, heads int) {
	if len(g) == 0 || !few(heads) {
		plain{}.SoftmaxGrad(g, y, heads)
		return
	}
	y = y[:len(g)]
	softmaxGradAVX512(&g[0], &y[0], len(g), heads)
}

// PairScore implements Heads.
func (avx512Loops) PairScore(score, left, right, vector []float32, slope float32) {
	if len(vector) == 0 || !few(len(score)) {
		plain{}.PairScore(score, left, right, vector, slope)
		return
	}
	left, right = left[:len(vector)], right[:len(vector)]
	pairScoreAVX512(&score[0], &left[0], &right[0], &vector[0], len(vector), len(score), slope)
}

// PairScoreGrad implements Heads.
func (avx512Loops) PairScoreGrad(g *PairGrad, d []float32, slope float32) {
	n := len(g.Vector)
	if n == 0 || !few(len(d)) {
		plain{}.PairScoreGrad(g, d, slope)
		return
	}
	_, _, _, _, _ = g.Left[:n], g.Right[:n], g.GradLeft[:n], g.GradRight[:n], g.GradVector[:n]
	pairScoreGradAVX512(g, &d[0], len(d), slope)
}

//go:noescape
func sumHeadsAVX512(dst, x, y *float32, n, heads int)

//go:noescape
func addHeadsAVX512(dst, x, w *float32, n, heads int)

//go:noescape
func softmaxAVX512(x *float32, n, heads int)

//go:noescape
func softmaxGradAVX512(grad, y *float32, n, heads int)

//go:noescape
func pairScoreAVX512(score, left, right, vector *float32, n, heads int, slope float32)

//go:noescape
func pairScoreGradAVX512(grad *PairGrad, d *float32, heads int, slope float32)
