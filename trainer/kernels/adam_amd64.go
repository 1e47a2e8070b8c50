package kernels

type avx512Optimiser struct{}

// Adam implements Optimiser.
func (avx512Optimiser) Adam(s *AdamStep, p, g, m, v []float32) bool {
	if len(p) == 0 {
		return true
	}
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	return adamAVX512(s, &p[0], &g[0], &m[0], &v[0], len(p))
}

// idleWeights is the number of weights per call of idleAVX512.
const idleWeights = 64

// Idle implements Optimiser.
func (o avx512Optimiser) Idle(steps []AdamStep, p, m, v []float32) bool {
	m, v = m[:len(p)], v[:len(p)]
	finite := true
	for from := 0; from < len(p); from += idleWeights {
		to := min(from+idleWeights, len(p))
		if len(steps) > 0 && to-from == idleWeights &&
			idleAVX512(&steps[0], len(steps), &p[from], &m[from], &v[from]) {
			continue
		}
		finite = idle(o, steps, p[from:to], m[from:to], v[from:to]) && finite
	}
	return finite
}

//go:noescape
func idleAVX512(steps *AdamStep, count int, p, m, v *float32) bool

//go:noescape
func adamAVX512(s *AdamStep, p, grad, m, v *float32, n int) bool
