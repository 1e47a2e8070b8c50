package gpfb

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// The sparse operator against the dense formula.
func TestOperatorEqualsItsFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 12)
		v := rapid.IntRange(1, 4).Draw(rt, "columns")
		if g.N() == 0 {
			return
		}
		const alpha = 0.25
		op := NewOperator(g, v, alpha)
		h := normals(lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test"), g.N()*v)
		a := mat.NewDense(g.N(), g.N(), nil)
		for i := range g.N() {
			for j := range g.N() {
				x := 0.0
				if g.Class(i) == g.Class(j) {
					x -= alpha
				}
				if i == j {
					x += 1 + alpha*float64(g.LargestClass())
				} else if g.Adjacent(i, j) {
					x += 1 / math.Sqrt(float64(len(g.Neighbors(i))*len(g.Neighbors(j))))
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
		objective := op.Apply(p, h)
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
func moment(g *graph.Graph, node, v int) float64 {
	count := 0
	for i := range g.N() {
		if g.Class(i) == g.Class(node) {
			count++
		}
	}
	return float64(count) / math.Sqrt(float64(g.N())*float64(v))
}

// On clusters of one node the operator of clusters is that of the graph.
func TestCoarseOperatorOnTheGraphItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 20)
		v := rapid.IntRange(1, 3).Draw(rt, "columns")
		if g.N() <= v {
			return
		}
		fine := NewOperator(g, v, 0.1)
		coarse := newClusterOperator(coarsen.Flat(g), 0.1, v)
		e, err := startEmbedding(coarse, 1)
		require.NoError(rt, err)
		h := e.Values
		want, got := make([]float64, len(h)), make([]float64, len(h))
		require.InDelta(rt, fine.Apply(want, h), coarse.Apply(got, h), 1e-12)
		require.InDeltaSlice(rt, want, got, 1e-12)
		fine.Smooth(want, h)
		coarse.Smooth(got, h)
		require.InDeltaSlice(rt, want, got, 1e-12)
	})
}

// A row that stands for a cluster counts as the equal rows of its nodes, each
// over the root of the size: the class sums are those of the graph.
func TestCoarseClassSumsAreThoseOfTheGraph(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 20)
		cluster, count := graphtest.DrawClusters(rt, g.N())
		h := coarsen.Flat(g)
		h.Contract(cluster, count)
		op := newClusterOperator(h, 0.1, 1)
		coarse := make([]float64, count)
		want := make([]float64, g.NumClasses())
		for c := range coarse {
			coarse[c] = rapid.Float64Range(-1, 1).Draw(rt, "row")
		}
		for i, c := range cluster {
			want[g.Class(i)] += coarse[c] / op.size[c]
		}
		op.sumClasses(coarse)
		require.InDeltaSlice(rt, want, op.sums, 1e-12)
	})
}
