package kernels

import "math"

// AdamStep holds the constants of one step of Adam with coupled weight decay
// (Decay) or decoupled decay (Shrink). With gradient g' = g + Decay·w:
//
//	m ← Beta1·m + OneMinusBeta1·g'
//	v ← Beta2·v + OneMinusBeta2·g'²
//	w ← Shrink·w − Size·m / (RootScale·√v + Epsilon)
type AdamStep struct {
	Decay, Shrink                float32
	Beta1, Beta2                 float32
	OneMinusBeta1, OneMinusBeta2 float32
	Size, RootScale, Epsilon     float32
}

// Adam implements Elements.
func (plain) Adam(s *AdamStep, p, g, m, v []float32) bool {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	const exponent = 0x7f800000
	finite := true
	for i, w := range p {
		grad := g[i] + float32(s.Decay*w)
		first := float32(s.Beta1*m[i]) + float32(s.OneMinusBeta1*grad)
		second := float32(s.Beta2*v[i]) + float32(s.OneMinusBeta2*float32(grad*grad))
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second)))
		w = float32(w*s.Shrink) - float32(s.Size*first)/(float32(root*s.RootScale)+s.Epsilon)
		p[i] = w
		if math.Float32bits(g[i])&exponent == exponent || math.Float32bits(w)&exponent == exponent {
			finite = false
		}
	}
	return finite
}
