package quality_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/scoring/quality"
)

// Scores as before have an index near 0, others a large one.
func TestDriftIsThePopulationStabilityIndex(t *testing.T) {
	counted := func(scores ...float64) (out quality.ScoreCounts) {
		for _, s := range scores {
			out.Add(s, 1)
		}
		return out
	}
	even := func(from, to float64) (out quality.ScoreCounts) {
		for i := range 1000 {
			out.Add(from+(to-from)*float64(i)/1000, 1)
		}
		return out
	}
	drift := func(now, before quality.ScoreCounts) float64 { return now.Drift(before) }
	before := even(0, 1)
	require.True(t, math.IsNaN(drift(before, quality.ScoreCounts{})), "nothing to compare with")
	require.True(t, math.IsNaN(drift(quality.ScoreCounts{}, before)), "nothing to compare")
	require.InDelta(t, 0, drift(even(0, 1), before), 1e-9)
	require.Greater(t, drift(even(.5, 1), before), .25)

	// By hand: 10 scores in the first bin of before, 10 in the second of now.
	high, low := 10.5/20, .5/20
	first, second := counted(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), counted(.05, .06, .07, .08, .09, .05, .06, .07, .08, .09)
	require.InDelta(t, 2*(high-low)*math.Log(high/low), drift(second, first), 1e-12)

	beyond := counted(1, 1, 2, -1)
	require.Equal(t, 1, beyond[0])
	require.Equal(t, 3, beyond[quality.ScoreBins-1], "what is beyond is in the last bins")
	beyond.Add(2, -1)
	beyond.AddAll(first)
	require.Equal(t, 13, beyond.Total())
}
