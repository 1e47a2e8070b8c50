package partition

import (
	"math"
	"testing"

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
				addScaled(p[i*v:(i+1)*v], size*left[i], right)
			}
			size *= decay
		}
		h := make([]float64, n*v)
		require.NoError(rt, newPolar(n, v).of(h, p))

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
	require.NoError(t, newPolar(4, 2).of(h, make([]float64, 8)))
	// Nothing but zeros: the completion takes standard basis vectors in order.
	for i := 4; i < 8; i++ {
		require.Zero(t, h[i])
	}
}

// The sparse operator against the dense formula.
func TestOperatorEqualsItsFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 12)
		v := rapid.IntRange(1, 4).Draw(rt, "columns")
		if g.N() == 0 {
			return
		}
		weights := make([]float64, len(g.neighbours))
		for k := range weights {
			weights[k] = 1
		}
		const alpha = 0.25
		op := newOperator(g, weights, Options{Alpha: alpha, Shards: v, Unnormalised: true})
		h := normals(lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test"), g.N()*v)
		a := mat.NewDense(g.N(), g.N(), nil)
		for i := range g.N() {
			for j := range g.N() {
				x := 0.0
				if g.Class(i) == g.Class(j) {
					x -= alpha
				}
				if i == j {
					x += op.shift - float64(len(g.Neighbors(i)))
				} else if g.adjacent(i, j) {
					x++
				}
				a.Set(i, j, x)
			}
		}
		var eigen mat.EigenSym
		require.True(rt, eigen.Factorize(symmetric(a), false))
		require.GreaterOrEqual(rt, eigen.Values(nil)[0], -1e-9, "the shift makes A positive semidefinite")
		var ah mat.Dense
		ah.Mul(a, mat.NewDense(g.N(), v, h))
		p := make([]float64, len(h))
		objective := op.apply(p, h)
		want := 0.0
		for i := range g.N() {
			for j := range v {
				linear := alpha * moment(g, i, v)
				require.InDelta(rt, ah.At(i, j)+linear, p[i*v+j], 1e-9)
				want += h[i*v+j] * (ah.At(i, j) + 2*linear)
			}
		}
		require.InDelta(rt, want, objective, 1e-8)
	})
}

func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	return mat.NewSymDense(n, append([]float64(nil), a.RawMatrix().Data...))
}

// moment is the entry of F M̃ in the row of a node: |C_s| / sqrt(n v).
func moment(g *Graph, node, v int) float64 {
	count := 0
	for i := range g.N() {
		if g.Class(i) == g.Class(node) {
			count++
		}
	}
	return float64(count) / math.Sqrt(float64(g.N())*float64(v))
}
