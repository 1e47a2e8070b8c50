package kernels

// idleBlock is how many weights stay in the first-level cache for all steps.
const idleBlock = 1024

// idle makes steps with no gradient by those with one.
func idle(e Elements, steps []AdamStep, p, m, v []float32) bool {
	var zeros [idleBlock]float32
	finite := true
	for from := 0; from < len(p); from += idleBlock {
		to := min(from+idleBlock, len(p))
		last := true
		for i := range steps {
			last = e.Adam(&steps[i], p[from:to], zeros[:to-from], m[from:to], v[from:to])
		}
		finite = finite && last
	}
	return finite
}

// Idle implements Elements.
func (l plain) Idle(steps []AdamStep, p, m, v []float32) bool { return idle(l, steps, p, m, v) }
