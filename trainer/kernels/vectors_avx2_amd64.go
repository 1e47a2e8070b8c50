package kernels

// wholeGroups is how many of n values the AVX2 loops process: whole groups of 8. Plain Go
// processes the rest.
func wholeGroups(n int) int { return n &^ 7 }

type avx2Elements struct{}

// Add implements Elements.
func (avx2Elements) Add(dst, x []float32) {
	whole, dst := wholeGroups(len(x)), dst[:len(x)]
	if whole > 0 {
		sumAVX2(&dst[0], &dst[0], &x[0], whole)
	}
	plainElements{}.Add(dst[whole:], x[whole:])
}

// Scale implements Elements.
func (avx2Elements) Scale(dst, x []float32, alpha float32) {
	whole, dst := wholeGroups(len(x)), dst[:len(x)]
	if whole > 0 {
		scaleAVX2(&dst[0], &x[0], whole, alpha)
	}
	plainElements{}.Scale(dst[whole:], x[whole:], alpha)
}

// Multiply implements Elements.
func (avx2Elements) Multiply(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	whole := wholeGroups(len(dst))
	if whole > 0 {
		productAVX2(&dst[0], &x[0], &y[0], whole)
	}
	plainElements{}.Multiply(dst[whole:], x[whole:], y[whole:])
}

// Dot implements Elements.
func (avx2Elements) Dot(x, y []float32) float64 {
	y = y[:len(x)]
	var sums dotSums
	whole := len(x) / len(sums) * len(sums)
	if whole > 0 {
		dotAVX2(&sums, &x[0], &y[0], whole)
	}
	sums.add(x[whole:], y[whole:])
	return sums.total()
}

type avx2Activations struct{ plainActivations }

// ReLU implements Activations.
func (a avx2Activations) ReLU(dst, x []float32) {
	whole, dst := wholeGroups(len(x)), dst[:len(x)]
	if whole > 0 {
		reluAVX2(&dst[0], &x[0], whole)
	}
	a.plainActivations.ReLU(dst[whole:], x[whole:])
}

// ReLUGrad implements Activations.
func (a avx2Activations) ReLUGrad(dst, y, g []float32) {
	whole, dst, g := wholeGroups(len(y)), dst[:len(y)], g[:len(y)]
	if whole > 0 {
		reluGradAVX2(&dst[0], &y[0], &g[0], whole)
	}
	a.plainActivations.ReLUGrad(dst[whole:], y[whole:], g[whole:])
}

type avx2Optimiser struct{}

// Adam implements Optimiser.
func (avx2Optimiser) Adam(s *AdamStep, p, g, m, v []float32) bool {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	whole, finite := wholeGroups(len(p)), true
	if whole > 0 {
		finite = adamAVX2(s, &p[0], &g[0], &m[0], &v[0], whole)
	}
	return plainOptimiser{}.Adam(s, p[whole:], g[whole:], m[whole:], v[whole:]) && finite
}

// Idle implements Optimiser.
func (o avx2Optimiser) Idle(steps []AdamStep, p, m, v []float32) bool { return idle(o, steps, p, m, v) }

//go:noescape
func sumAVX2(dst, x, y *float32, n int)

//go:noescape
func productAVX2(dst, x, y *float32, n int)

//go:noescape
func scaleAVX2(dst, x *float32, n int, alpha float32)

//go:noescape
func dotAVX2(sums *dotSums, x, y *float32, n int)

//go:noescape
func reluAVX2(dst, x *float32, n int)

//go:noescape
func reluGradAVX2(dst, y, grad *float32, n int)

//go:noescape
func adamAVX2(s *AdamStep, p, grad, m, v *float32, n int) bool
