package kernels

import "math"

// Optimiser updates weights. Every set computes the same bits. Other vectors must be at least as
// long as the weights p.
type Optimiser interface {
	// Adam updates the weights p and the moments m and v from gradient g, in one pass. It reports
	// whether every gradient and weight is finite.
	Adam(s *AdamStep, p, g, m, v []float32) bool
	// Idle performs the steps in order with zero gradients. It reports whether every weight is
	// finite after the last one.
	Idle(steps []AdamStep, p, m, v []float32) bool
}

// AdamStep holds the constants of one step of Adam with coupled weight decay (Decay) or decoupled decay (Shrink).
// With gradient g' = g + Decay·w:
//
//	m ← Beta1·m + OneMinusBeta1·g'
//	v ← Beta2·v + OneMinusBeta2·g'²
//	w ← Shrink·w − Size·m / (RootScale·√v + Epsilon)
//
// Values that are negligible beside Epsilon become 0: g' and m below 2^-56, v below 2^-120, w below 2^-100. The
// moments of a weight without gradients would otherwise decay to subnormal numbers, which processors handle many
// times slower.
type AdamStep struct {
	Decay, Shrink                float32
	Beta1, Beta2                 float32
	OneMinusBeta1, OneMinusBeta2 float32
	Size, RootScale, Epsilon     float32
}

// The bits of 2^-56, 2^-120 and 2^-100.
const (
	smallFirst  = (127 - 56) << 23
	smallSecond = (127 - 120) << 23
	smallWeight = (127 - 100) << 23
)

// unlessBelow returns x, or 0 if its absolute value is below the number with these bits.
func unlessBelow(small uint32, x float32) float32 {
	if math.Float32bits(x)&^(1<<31) < small {
		return 0
	}
	return x
}

type plainOptimiser struct{}

// Adam implements Optimiser.
func (plainOptimiser) Adam(s *AdamStep, p, g, m, v []float32) bool {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	const exponent = 0x7f800000
	finite := true
	for i, w := range p {
		grad := unlessBelow(smallFirst, g[i]+float32(s.Decay*w))
		first := unlessBelow(smallFirst, float32(s.Beta1*m[i])+float32(s.OneMinusBeta1*grad))
		second := float32(s.Beta2*v[i]) + float32(s.OneMinusBeta2*float32(grad*grad))
		if math.Float32bits(second) < smallSecond { // second has no sign
			second = 0
		}
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second)))
		w = float32(w*s.Shrink) - float32(s.Size*first)/(float32(root*s.RootScale)+s.Epsilon)
		w = unlessBelow(smallWeight, w)
		p[i] = w
		if math.Float32bits(g[i])&exponent == exponent || math.Float32bits(w)&exponent == exponent {
			finite = false
		}
	}
	return finite
}

// idleBlock is the number of weights that stay in the first-level cache for all steps.
const idleBlock = 1024

// idle performs steps without gradient through Adam.
func idle(o Optimiser, steps []AdamStep, p, m, v []float32) bool {
	var zeros [idleBlock]float32
	finite := true
	for from := 0; from < len(p); from += idleBlock {
		to := min(from+idleBlock, len(p))
		last := true
		for i := range steps {
			last = o.Adam(&steps[i], p[from:to], zeros[:to-from], m[from:to], v[from:to])
		}
		finite = finite && last
	}
	return finite
}

// Idle implements Optimiser.
func (o plainOptimiser) Idle(steps []AdamStep, p, m, v []float32) bool {
	return idle(o, steps, p, m, v)
}
