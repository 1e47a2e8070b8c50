package kernels

import (
	"math"
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
