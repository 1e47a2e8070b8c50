package kernels

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
	s := AdamStep{Shrink: 0.9, Beta1: 0.9, Beta2: 0.9, OneMinusBeta1: 0.1, OneMinusBeta2: 0.1, Size: 1e-30, RootScale: 1, Epsilon: 1e-8}
	want := FMA{plainLoops{}}
	sets := kernelSets(t)
	for _, l := range allLoops() {
		sets = append(sets, FMA{l})
	}
	for _, k := range sets {
		p, g, m, v := vectors()
		p2, g2, m2, v2 := vectors()
		for range steps {
			require.True(t, k.Adam(&s, p, g, m, v))
			want.Adam(&s, p2, g2, m2, v2)
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

// Steps without a gradient are those of Adam with a gradient of zeros, whatever
// fades to 0, overflows or is no number on the way, and however many weights.
func TestIdleStepsAreThoseOfAdam(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "weights")
		steps := make([]AdamStep, rapid.IntRange(0, 40).Draw(rt, "steps"))
		decay := rapid.SampledFrom([]float32{0, 5e-4, 0.3, 1e-20}).Draw(rt, "decay")
		beta := rapid.SampledFrom([]float32{0.9, 0.01}).Draw(rt, "beta")
		shrink := rapid.SampledFrom([]float32{1, 0.99, 1e-3, 1e20}).Draw(rt, "shrink")
		for i := range steps {
			steps[i] = AdamStep{
				Decay: decay, Shrink: shrink, Beta1: beta, Beta2: 0.999, OneMinusBeta1: 1 - beta, OneMinusBeta2: 0.001,
				Size: 0.01 * float32(i+1), RootScale: 1.5, Epsilon: 1e-8,
			}
		}
		special := []float32{0, 1e-30, float32(math.Inf(1)), float32(math.NaN()), 1e38, 3e-17}
		state := func() [3][]float32 {
			var s [3][]float32
			for i := range s {
				s[i] = randomMatrix(1, n, uint64(i)).Data
			}
			for i := range s[2] {
				s[2][i] *= s[2][i]
			}
			return s
		}
		start, where := state(), []int{}
		for range rapid.IntRange(0, 3).Draw(rt, "special") {
			if n > 0 {
				where = append(where, rapid.IntRange(0, n-1).Draw(rt, "where"))
			}
		}
		for k, i := range where {
			start[rapid.IntRange(0, 2).Draw(rt, "what")][i] = special[(k+rapid.IntRange(0, 5).Draw(rt, "which"))%6]
		}
		copied := func() (s [3][]float32) {
			for i := range s {
				s[i] = slices.Clone(start[i])
			}
			return s
		}
		want := copied()
		finite := true
		for i := range steps {
			finite = plain{}.Adam(&steps[i], want[0], make([]float32, n), want[1], want[2])
		}
		for _, l := range allLoops() {
			got := copied()
			require.Equal(rt, finite, l.Idle(steps, got[0], got[1], got[2]), l.detail())
			for i := range want {
				requireBits(rt, want[i], got[i])
			}
		}
	})
}
