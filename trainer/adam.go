package trainer

import "math"

const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
)

// adam is the optimiser of Kingma and Ba ("Adam", ICLR 2015) with L2 decay
// added to the gradient, or decoupled from it (Loshchilov and Hutter, ICLR
// 2019).
type adam struct {
	learningRate, weightDecay float64
	beta1, beta2, epsilon     float64
	decoupled                 bool
}

func (o Options) adam() adam {
	return adam{
		learningRate: o.LearningRate, weightDecay: o.WeightDecay, decoupled: o.DecoupledDecay,
		beta1: adamBeta1, beta2: adamBeta2, epsilon: adamEpsilon,
	}
}

// adamStep holds a step's constants.
type adamStep struct {
	decay, shrink          float32
	beta1, beta2           float32
	oneMinus1, oneMinus2   float32
	size, rootScale, small float32
}

// at returns the constants of step t, counted from 1: m̂ and v̂ are m/(1-β1^t)
// and v/(1-β2^t).
func (a adam) at(t uint64) adamStep {
	s := adamStep{
		decay: float32(a.weightDecay), shrink: 1,
		beta1: float32(a.beta1), beta2: float32(a.beta2),
		oneMinus1: float32(1 - a.beta1), oneMinus2: float32(1 - a.beta2),
		size:      float32(a.learningRate / (1 - integerPower(a.beta1, t))),
		rootScale: float32(1 / math.Sqrt(1-integerPower(a.beta2, t))),
		small:     float32(a.epsilon),
	}
	if a.decoupled {
		s.decay = 0
		s.shrink = float32(1 - float64(a.learningRate*a.weightDecay))
	}
	return s
}

// update moves the weights p by gradient g in one pass over both and the
// moments m and v. It reports whether every gradient and weight is finite.
func (s adamStep) update(p, g, m, v []float32) bool {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	const exponent = 0x7f800000
	finite := true
	for i, w := range p {
		grad := g[i] + float32(s.decay*w)
		first := float32(s.beta1*m[i]) + float32(s.oneMinus1*grad)
		second := float32(s.beta2*v[i]) + float32(s.oneMinus2*float32(grad*grad))
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second)))
		w = float32(w*s.shrink) - float32(s.size*first)/(float32(root*s.rootScale)+s.small)
		p[i] = w
		if math.Float32bits(g[i])&exponent == exponent || math.Float32bits(w)&exponent == exponent {
			finite = false
		}
	}
	return finite
}

// integerPower is b^n by repeated squaring, portable where math.Pow need not be.
func integerPower(b float64, n uint64) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= b
		}
		b *= b
	}
	return result
}
