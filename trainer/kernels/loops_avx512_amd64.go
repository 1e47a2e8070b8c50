package kernels

// avx512Loops use AVX-512 throughout.
type avx512Loops struct{}

func (avx512Loops) detail() string { return "AVX-512" }

func (avx512Loops) size() tileSize { return tileSize{height: 12, step: 4, width: 32, steps: true} }

func (avx512Loops) tile(t *tile) { tileAVX512(t) }

func (avx512Loops) gather(p *packing) { copyAVX512(p) }

func (avx512Loops) transpose(p *packing) { transposeAVX512(p) }

// Axpy implements loops.
func (avx512Loops) Axpy(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		axpyAVX512(&dst[0], &x[0], len(x), alpha)
	}
}

// Add implements Elements.
func (avx512Loops) Add(dst, x []float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		addAVX512(&dst[0], &x[0], len(x))
	}
}

// Scale implements Elements.
func (avx512Loops) Scale(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		scaleAVX512(&dst[0], &x[0], len(x), alpha)
	}
}

// Dot implements Elements.
func (avx512Loops) Dot(x, y []float32) float64 {
	if len(x) == 0 {
		return 0
	}
	y = y[:len(x)]
	return dotAVX512(&x[0], &y[0], len(x))
}

// ReLU implements Elements.
func (avx512Loops) ReLU(dst, x []float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		reluAVX512(&dst[0], &x[0], len(x))
	}
}

// ReLUGrad implements Elements.
func (avx512Loops) ReLUGrad(dst, y, g []float32) {
	if len(y) > 0 {
		dst, g = dst[:len(y)], g[:len(y)]
		reluGradAVX512(&dst[0], &y[0], &g[0], len(y))
	}
}

// Adam implements Elements.
func (avx512Loops) Adam(s *AdamStep, p, g, m, v []float32) bool {
	if len(p) == 0 {
		return true
	}
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	return adamAVX512(s, &p[0], &g[0], &m[0], &v[0], len(p))
}

// ColumnSums implements Columns.
func (avx512Loops) ColumnSums(sums []float64, x Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums = sums[:x.Cols]
	columnSumsAVX512(&sums[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnSquares implements Columns.
func (avx512Loops) ColumnSquares(sums, centre []float64, x Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums, centre = sums[:x.Cols], centre[:x.Cols]
	columnSquaresAVX512(&sums[0], &centre[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnDots implements Columns.
func (avx512Loops) ColumnDots(sums []float64, x, y Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums, data := sums[:x.Cols], y.Data[:len(x.Data)]
	columnDotsAVX512(&sums[0], &x.Data[0], &data[0], x.Rows, x.Cols)
}

// Normalise implements Columns.
func (avx512Loops) Normalise(dst, z, x Matrix, n *Normalisation) {
	if len(x.Data) > 0 {
		normaliseAVX512(n.bind(dst, z, x))
	}
}

// NormaliseGrad implements Columns.
func (avx512Loops) NormaliseGrad(dst, z, g Matrix, n *Normalisation) {
	if len(g.Data) > 0 {
		normaliseGradAVX512(n.bind(dst, z, g))
	}
}

//go:noescape
func tileAVX512(t *tile)

//go:noescape
func copyAVX512(p *packing)

//go:noescape
func transposeAVX512(p *packing)

//go:noescape
func addAVX512(dst, x *float32, n int)

//go:noescape
func scaleAVX512(dst, x *float32, n int, alpha float32)

//go:noescape
func axpyAVX512(dst, x *float32, n int, alpha float32)

//go:noescape
func dotAVX512(x, y *float32, n int) float64

//go:noescape
func reluAVX512(dst, x *float32, n int)

//go:noescape
func reluGradAVX512(dst, y, grad *float32, n int)

//go:noescape
func adamAVX512(s *AdamStep, p, grad, m, v *float32, n int) bool

//go:noescape
func columnSumsAVX512(sums *float64, x *float32, rows, cols int)

//go:noescape
func columnSquaresAVX512(sums, centre *float64, x *float32, rows, cols int)

//go:noescape
func columnDotsAVX512(sums *float64, x, y *float32, rows, cols int)

//go:noescape
func normaliseAVX512(n *normalising)

//go:noescape
func normaliseGradAVX512(n *normalising)
