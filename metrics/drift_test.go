package metrics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scores as before have an index near 0, others a large one, and what came is then among what was before.
func TestDriftIsThePopulationStabilityIndex(t *testing.T) {
	even := func(from, to float64) (out []float64) {
		for i := range 1000 {
			out = append(out, from+(to-from)*float64(i)/1000)
		}
		return out
	}
	var d drift
	require.True(t, math.IsNaN(d.add(even(0, 1))), "nothing to compare with")
	require.InDelta(t, 0, d.add(even(0, 1)), 1e-9)
	require.Greater(t, d.add(even(.5, 1)), .25)
	require.True(t, math.IsNaN(d.add(nil)))

	// By hand: 10 scores in the first bin of before, 10 in the second of now.
	d = drift{}
	d.add([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	high, low := 10.5/20, .5/20
	now := []float64{.05, .06, .07, .08, .09, .05, .06, .07, .08, .09}
	require.InDelta(t, 2*(high-low)*math.Log(high/low), d.add(now), 1e-12)
	require.Positive(t, d.add([]float64{1, 1, 2, -1}), "what is beyond is in the last bins")
}
