package gpfb

import (
	"testing"

	"lethe/partition/vectors"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"lethe"
)

// nuclear returns the sum of singular values, the greatest Tr(Hᵀ P) over
// matrices with orthonormal columns.
func nuclear(t require.TestingT, p []float64, n, v int) float64 {
	var svd mat.SVD
	require.True(t, svd.Factorize(mat.NewDense(n, v, append([]float64(nil), p...)), mat.SVDNone))
	sum := 0.0
	for _, s := range svd.Values(nil) {
		sum += s
	}
	return sum
}

// P of any rank, zero included: the columns of H are orthonormal and reach the
// greatest trace there is.
func TestPolarFactorOfAnyRank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.IntRange(1, 6).Draw(rt, "columns")
		n := rapid.IntRange(v, 15).Draw(rt, "rows")
		rank := rapid.IntRange(0, v).Draw(rt, "rank")
		decay := rapid.SampledFrom([]float64{1, 1e-2, 1e-5, 1e-9}).Draw(rt, "decay")
		draw := lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test")
		p := make([]float64, n*v)
		size := 1.0
		for range rank {
			left, right := normals(draw, n), normals(draw, v)
			for i := range n {
				vectors.AddScaled(p[i*v:(i+1)*v], size*left[i], right)
			}
			size *= decay
		}
		h := make([]float64, n*v)
		require.NoError(rt, NewPolar(n, v).Of(h, p))

		var gram mat.Dense
		dense := mat.NewDense(n, v, h)
		gram.Mul(dense.T(), dense)
		trace := 0.0
		for i := range v {
			for j := range v {
				want := 0.0
				if i == j {
					want = 1
				}
				require.InDelta(rt, want, gram.At(i, j), 1e-9)
			}
		}
		for k := range h {
			trace += h[k] * p[k]
		}
		best := nuclear(rt, p, n, v)
		// Directions of 1e-8 of the largest are not told apart in PᵀP.
		require.InDelta(rt, best, trace, 1e-7*(1+best))
	})
}

func normals(draw *lethe.Draw, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = draw.Normal()
	}
	return out
}

func TestPolarFactorCompletesWithLowestPositions(t *testing.T) {
	h := make([]float64, 8)
	require.NoError(t, NewPolar(4, 2).Of(h, make([]float64, 8)))
	// Nothing but zeros: the completion takes standard basis vectors in order.
	for i := 4; i < 8; i++ {
		require.Zero(t, h[i])
	}
}
