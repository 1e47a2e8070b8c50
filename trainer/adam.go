package trainer

import (
	"math"

	"lethe/trainer/kernels"
)

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

func (c Config) adam() adam {
	return adam{
		learningRate: c.LearningRate, weightDecay: c.WeightDecay, decoupled: c.DecoupledDecay,
		beta1: adamBeta1, beta2: adamBeta2, epsilon: adamEpsilon,
	}
}

// at returns the constants of step t, counted from 1: m̂ and v̂ are m/(1-β1^t)
// and v/(1-β2^t).
func (a adam) at(t uint64) kernels.AdamStep {
	s := kernels.AdamStep{
		Decay: float32(a.weightDecay), Shrink: 1,
		Beta1: float32(a.beta1), Beta2: float32(a.beta2),
		OneMinusBeta1: float32(1 - a.beta1), OneMinusBeta2: float32(1 - a.beta2),
		Size:      float32(a.learningRate / (1 - integerPower(a.beta1, t))),
		RootScale: float32(1 / math.Sqrt(1-integerPower(a.beta2, t))),
		Epsilon:   float32(a.epsilon),
	}
	if a.decoupled {
		s.Decay = 0
		s.Shrink = float32(1 - float64(a.learningRate*a.weightDecay))
	}
	return s
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
