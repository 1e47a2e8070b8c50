package kernels

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a weight without a gradient leaves behind fades to 0 and never becomes
// subnormal on the way, in every set, by the same steps.
func TestAdamFadesToZero(t *testing.T) {
	const n, steps = 40, 2500
	vectors := func() (p, g, m, v []float32) {
		p, g, m, v = make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range n {
			// Weights, gradients, first and second moments from large to tiny.
			size := float32(math.Pow(10, -float64(i)))
			p[i], m[i], v[i] = -size, size, size
			if i%2 == 0 {
				g[i] = size
			}
		}
		return p, g, m, v
	}
	// β₂ is small, so that the second moment fades as well.
	s := AdamStep{
		Shrink: 0.9, Beta1: 0.9, Beta2: 0.9, OneMinusBeta1: 0.1, OneMinusBeta2: 0.1,
		Size: 1e-30, RootScale: 1, Epsilon: 1e-8,
	}
	want := fusedPlain()
	for _, k := range append(kernelSets(t), allFused()...) {
		p, g, m, v := vectors()
		p2, g2, m2, v2 := vectors()
		for range steps {
			require.True(t, k.Optimiser.Adam(&s, p, g, m, v))
			want.Optimiser.Adam(&s, p2, g2, m2, v2)
			for _, values := range [][]float32{p, m, v} {
				for i, x := range values {
					require.False(t, x != 0 && math.Abs(float64(x)) < 0x1p-126, "value %d is subnormal: %g", i, x)
				}
			}
			for _, pair := range [][2][]float32{{p2, p}, {m2, m}, {v2, v}} {
				requireBits(t, pair[0], pair[1])
			}
		}
		for i := 1; i < n; i += 2 {
			require.Zero(t, m[i])
			require.Zero(t, v[i])
		}
	}
}

// Steps without a gradient are those of the same loops' Adam with a gradient of
// zeros, whatever fades to 0, overflows or is no number on the way, and however many
// weights.
func TestIdleStepsAreThoseOfAdam(t *testing.T) {
	for _, n := range []int{0, 1, 64, 130} {
		weights, first, second := make([]float32, n), randomMatrix(1, n, 1).Data, randomMatrix(1, n, 2).Data
		for i, x := range randomMatrix(1, n, 3).Data {
			weights[i] = x + float32(math.Copysign(1, float64(x)))
			second[i] *= second[i]
		}
		every(func(s AdamStep) {
			for _, count := range []int{0, 1, 3, 12} {
				requireIdleIsAdam(t, s, count, weights, first, second)
				requireIdleIsAdam(t, s, count, weights, first, make([]float32, n))
			}
		})
		s := AdamStep{
			Decay: 5e-4, Shrink: 1, Beta1: 0.9, Beta2: 0.999, OneMinusBeta1: 0.1, OneMinusBeta2: 0.001,
			Size: 0.01, RootScale: 1, Epsilon: 1e-8,
		}
		for i := range n {
			for _, x := range []float32{0, 1e-30, 1e38, float32(math.Inf(1)), float32(math.NaN())} {
				for _, where := range [][]float32{weights, first, second} {
					kept := where[i]
					where[i] = x
					requireIdleIsAdam(t, s, 2, weights, first, second)
					where[i] = kept
				}
			}
		}
	}
}

// every visits steps under which the values fade to 0 each for itself.
func every(visit func(AdamStep)) {
	for _, decay := range []float32{0, 5e-4, 0.3, 1e-16, 1e20} {
		for _, beta := range []float32{0.9, 0.01} {
			for _, rest := range []float32{0.001, 1e-8} {
				for _, size := range []float32{0.01, 0} {
					for _, shrink := range []float32{1, 0.99, 1e-3, 1e20} {
						visit(AdamStep{
							Decay: decay, Shrink: shrink, Beta1: beta, Beta2: 0.999, OneMinusBeta1: 1 - beta,
							OneMinusBeta2: rest, Size: size, RootScale: 1.5, Epsilon: 1e-8,
						})
					}
				}
			}
		}
	}
}

func requireIdleIsAdam(t *testing.T, s AdamStep, count int, weights, first, second []float32) {
	t.Helper()
	steps := make([]AdamStep, count)
	for i := range steps {
		steps[i] = s
		steps[i].Size *= float32(i + 1)
	}
	for _, l := range allFused() {
		p, m, v, finite := slices.Clone(weights), slices.Clone(first), slices.Clone(second), true
		for i := range steps {
			finite = l.Optimiser.Adam(&steps[i], p, make([]float32, len(p)), m, v)
		}
		p2, m2, v2 := slices.Clone(weights), slices.Clone(first), slices.Clone(second)
		require.Equal(t, finite, l.Optimiser.Idle(steps, p2, m2, v2), l.Detail)
		for _, pair := range [][2][]float32{{p, p2}, {m, m2}, {v, v2}} {
			requireBits(t, pair[0], pair[1])
		}
	}
}
