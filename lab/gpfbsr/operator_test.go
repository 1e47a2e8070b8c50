package gpfbsr

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/partition/gpfb"
	"lethe/partition/graphtest"
)

// The base W - D: a sweep is the shift, less the class sums, plus what the edges differ by.
func TestUnnormalisedOperatorEqualsItsFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 12)
		const alpha = 0.25
		h, p := make([]float64, g.N()), make([]float64, g.N())
		for i := range h {
			h[i] = rapid.Float64Range(-1, 1).Draw(rt, "row")
		}
		op := newOperator(g, 1, Config{Config: gpfb.Config{Alpha: alpha}, Unnormalised: true})
		whole, most := newOperator(g, 1, Config{Config: gpfb.Config{Alpha: alpha}}), 0
		fair := make([]float64, g.N()) // what both bases have
		whole.Apply(fair, h)
		for i := range h {
			most = max(most, len(g.Neighbors(i)))
			fair[i] -= whole.Diagonal[i] * h[i]
			start, neighbours := g.Rows()
			for k := start[i]; k < start[i+1]; k++ {
				fair[i] -= whole.Weight[k] * h[neighbours[k]]
			}
		}
		op.Apply(p, h)
		for i := range h {
			want := fair[i] + (2*float64(most)+alpha*float64(g.LargestClass()))*h[i]
			for _, j := range g.Neighbors(i) {
				want += h[j] - h[i]
			}
			require.InDelta(rt, want, p[i], 1e-9)
		}
	})
}
