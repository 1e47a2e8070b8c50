package kernels

type avx512Elements struct{}

// Add implements Elements.
func (avx512Elements) Add(dst, x []float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		addAVX512(&dst[0], &x[0], len(x))
	}
}

// Scale implements Elements.
func (avx512Elements) Scale(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		scaleAVX512(&dst[0], &x[0], len(x), alpha)
	}
}

// Multiply implements Elements.
func (avx512Elements) Multiply(dst, x, y []float32) {
	if len(dst) > 0 {
		x, y = x[:len(dst)], y[:len(dst)]
		multiplyAVX512(&dst[0], &x[0], &y[0], len(dst))
	}
}

// Dot implements Elements.
func (avx512Elements) Dot(x, y []float32) float64 {
	if len(x) == 0 {
		return 0
	}
	y = y[:len(x)]
	return dotAVX512(&x[0], &y[0], len(x))
}

//go:noescape
func addAVX512(dst, x *float32, n int)

//go:noescape
func scaleAVX512(dst, x *float32, n int, alpha float32)

//go:noescape
func multiplyAVX512(dst, x, y *float32, n int)

//go:noescape
func dotAVX512(x, y *float32, n int) float64
