package kernels

type avx512Activations struct{}

// ReLU implements Activations.
func (avx512Activations) ReLU(dst, x []float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		reluAVX512(&dst[0], &x[0], len(x))
	}
}

// ReLUGrad implements Activations.
func (avx512Activations) ReLUGrad(dst, y, g []float32) {
	if len(y) > 0 {
		dst, g = dst[:len(y)], g[:len(y)]
		reluGradAVX512(&dst[0], &y[0], &g[0], len(y))
	}
}

//go:noescape
func reluAVX512(dst, x *float32, n int)

//go:noescape
func reluGradAVX512(dst, y, grad *float32, n int)
