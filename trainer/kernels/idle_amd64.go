package kernels

// idleWeights is how many weights idleAVX512 takes.
const idleWeights = 64

// Idle implements Elements.
func (a avx512Loops) Idle(steps []AdamStep, p, m, v []float32) bool {
	m, v = m[:len(p)], v[:len(p)]
	finite := true
	for from := 0; from < len(p); from += idleWeights {
		to := min(from+idleWeights, len(p))
		if len(steps) > 0 && to-from == idleWeights &&
			idleAVX512(&steps[0], len(steps), &p[from], &m[from], &v[from]) {
			continue
		}
		finite = idle(a, steps, p[from:to], m[from:to], v[from:to]) && finite
	}
	return finite
}

//go:noescape
func idleAVX512(steps *AdamStep, count int, p, m, v *float32) bool
