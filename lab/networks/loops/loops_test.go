package loops

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/kernels"
)

// others returns the sets that this processor can run, by name.
func others() map[string]Set {
	return map[string]Set{"plain": plain(), "default": Of(kernels.Default())}
}

func randomMatrix(rows, cols int, seed uint64) Matrix {
	d := lethe.NewDraw(seed, "test matrix")
	m := Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = 2 * (d.Float32() + d.Float32() + d.Float32() - 1.5)
	}
	return m
}

// guarded returns a matrix that ends where its memory ends and begins behind
// margin values, together with all of that memory.
func guarded(rows, cols, margin int) (Matrix, []float32) {
	all := make([]float32, rows*cols+2*margin)
	for i := range all {
		all[i] = 12345
	}
	return Matrix{Rows: rows, Cols: cols, Data: all[margin : margin+rows*cols : margin+rows*cols]}, all
}

func checkGuard(t rapid.TB, all []float32, margin int) {
	for i, v := range all {
		if (i < margin || i >= len(all)-margin) && v != 12345 {
			t.Fatalf("value %d of %d lies outside and was overwritten", i, len(all))
		}
	}
}

// Vectors hold what is hard: zeros of both signs, infinities, not-a-numbers.
func hardVector(n int, seed uint64, special bool) []float32 {
	v := randomMatrix(1, n, seed).Data
	if !special {
		return v
	}
	negativeZero, infinity := float32(math.Copysign(0, -1)), float32(math.Inf(1))
	hard := []float32{0, negativeZero, infinity, -infinity, float32(math.NaN()), 1e-42, 3e38}
	d := lethe.NewDraw(seed, "hard values")
	for i := range v {
		if d.IntN(3) == 0 {
			v[i] = hard[d.IntN(len(hard))]
		}
	}
	return v
}

// sameFloat compares bits, but takes all not-a-numbers for one.
func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func TestActivationsComputeTheSameBits(t *testing.T) {
	type loop = func(a Activations, dst, x, g []float32)
	for name, run := range map[string]loop{
		"leaky ReLU":          func(a Activations, dst, x, _ []float32) { a.LeakyReLU(dst, x, 0.2) },
		"leaky ReLU gradient": func(a Activations, dst, y, g []float32) { a.LeakyReLUGrad(dst, y, g, 0.2) },
		"ELU":                 func(a Activations, dst, x, _ []float32) { a.ELU(dst, x) },
		"ELU gradient":        func(a Activations, dst, y, g []float32) { a.ELUGrad(dst, y, g) },
		"sigmoid":             func(a Activations, dst, x, _ []float32) { a.Sigmoid(dst, x) },
	} {
		rapid.Check(t, func(rt *rapid.T) {
			n, special := rapid.IntRange(0, 100).Draw(rt, "n"), rapid.Bool().Draw(rt, "special")
			x, g := hardVector(n, 1, special), hardVector(n, 2, special)
			want, got := make([]float32, n), make([]float32, n)
			run(plain().Activations, want, x, g)
			run(Of(kernels.Default()).Activations, got, x, g)
			for i := range want {
				require.True(rt, sameFloat(want[i], got[i]), "%s of %g: %g, want %g", name, x[i], got[i], want[i])
			}
		})
	}
}
