package loops

type avx512Activations struct{}

// LeakyReLU implements Activations.
func (a avx512Activations) LeakyReLU(dst, x []float32, slope float32) {
	a.LeakyReLUGrad(dst, x, x, slope)
}

// LeakyReLUGrad implements Activations.
func (avx512Activations) LeakyReLUGrad(dst, y, g []float32, slope float32) {
	if len(dst) > 0 {
		y, g = y[:len(dst)], g[:len(dst)]
		leakyReLUAVX512(&dst[0], &y[0], &g[0], len(dst), slope)
	}
}

// ELU implements Activations.
func (avx512Activations) ELU(dst, x []float32) {
	if len(dst) > 0 {
		x = x[:len(dst)]
		eluAVX512(&dst[0], &x[0], len(dst))
	}
}

// ELUGrad implements Activations.
func (avx512Activations) ELUGrad(dst, y, g []float32) {
	if len(dst) > 0 {
		y, g = y[:len(dst)], g[:len(dst)]
		eluGradAVX512(&dst[0], &y[0], &g[0], len(dst))
	}
}

// Sigmoid implements Activations.
func (avx512Activations) Sigmoid(dst, x []float32) {
	if len(dst) > 0 {
		x = x[:len(dst)]
		sigmoidAVX512(&dst[0], &x[0], len(dst))
	}
}

//go:noescape
func leakyReLUAVX512(dst, y, grad *float32, n int, slope float32)

//go:noescape
func eluAVX512(dst, x *float32, n int)

//go:noescape
func eluGradAVX512(dst, y, grad *float32, n int)

//go:noescape
func sigmoidAVX512(dst, x *float32, n int)
