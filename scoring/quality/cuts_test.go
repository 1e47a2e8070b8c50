package quality_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/scoring/graphtest"
	"lethe/scoring/quality"
)

// f1 counts what a threshold takes, one by one.
func (s sample) f1(threshold float64) float64 {
	right, taken, positives := 0.0, 0.0, 0.0
	for i, score := range s.scores {
		if s.positive[i] {
			positives++
		}
		if score >= threshold {
			taken++
			if s.positive[i] {
				right++
			}
		}
	}
	if taken+positives == 0 {
		return 0
	}
	return 2 * right / (taken + positives)
}

func TestBestF1IsThatOfAllThresholds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		best := 0.0
		for i := range 18 {
			best = max(best, s.f1(float64(i)/16))
		}
		f1, threshold, ok := quality.BestF1(s.scores, s.positive)
		require.Equal(rt, best > 0, ok)
		if ok {
			require.Equal(rt, best, f1)
			require.Equal(rt, best, s.f1(threshold))
		}
	})
}

func TestCutsTakeWhatTheySay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		cuts := quality.Cuts(s.scores, s.positive)
		for _, c := range cuts {
			taken, right := 0, 0
			for i, score := range s.scores {
				if score >= c.Threshold {
					taken++
					if s.positive[i] {
						right++
					}
				}
			}
			require.Equal(rt, c, quality.Cut{Threshold: c.Threshold, Taken: taken, Right: right})
		}
		if len(s.scores) > 0 {
			require.Equal(rt, len(s.scores), cuts[len(cuts)-1].Taken)
		}
	})
	cuts := quality.Cuts([]float64{0.5, math.NaN(), 0.25}, []bool{false, true, true})
	require.Equal(t, []quality.Cut{{Threshold: 0.375, Taken: 1}, {Threshold: 0.25, Taken: 2, Right: 1}}, cuts)
	require.Zero(t, cuts[0].Precision())
}

func TestCalibrationErrorByHand(t *testing.T) {
	// Bins of 1/15: .1 and .11 are in one, of which half is positive; .9 in another.
	got, ok := quality.CalibrationError([]float64{0.1, 0.9, 0.11}, []bool{true, true, false})
	require.True(t, ok)
	require.InDelta(t, 2.0/3*(0.5-0.105)+1.0/3*0.1, got, 1e-12)
	got, ok = quality.CalibrationError([]float64{1, 0}, []bool{true, false})
	require.True(t, ok)
	require.Zero(t, got)
	_, ok = quality.CalibrationError(nil, nil)
	require.False(t, ok)
	_, ok = quality.CalibrationError([]float64{math.NaN()}, []bool{true})
	require.False(t, ok)
}

// Where no scores tie the budget is counted by sorting; ties give the mean over all
// orders in which they could have been taken.
func TestBudgetCountsTheHighest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		budget := rapid.IntRange(0, 35).Draw(rt, "budget")
		got := quality.AtBudget(s.scores, s.positive, budget)
		expected, positives := 0.0, 0
		for i, p := range s.positive {
			if !p {
				continue
			}
			positives++
			above, tied := 0, 0
			for _, score := range s.scores {
				if score > s.scores[i] {
					above++
				} else if score == s.scores[i] {
					tied++
				}
			}
			expected += min(1, max(0, float64(budget-above)/float64(tied)))
		}
		require.Equal(rt, min(budget, len(s.scores)), got.Alerts)
		require.Equal(rt, positives, got.Illicit)
		require.InDelta(rt, expected, got.Right, 1e-9)
	})
	b := quality.Budgeted{Alerts: 4, Illicit: 8, Right: 3}
	require.Equal(t, 0.75, b.Precision())
	require.Equal(t, 0.375, b.Recall())
	require.Zero(t, quality.Budgeted{}.Precision())
}

func TestTallySpendsABudgetInEveryTimestep(t *testing.T) {
	var tally quality.Tally
	for i, step := range []lethe.Timestep{1, 1, 2, 2, 2, 4} {
		tally.Add(step, float64(i)/8, []lethe.Label{lethe.Licit, lethe.Illicit}[i%2])
	}
	tally.Add(2, 1, lethe.Unknown)
	require.Equal(t, quality.Budgeted{Alerts: 2, Illicit: 2, Right: 1}, tally.AtBudget(1, 3, 1))
	require.Equal(t, quality.Budgeted{Alerts: 6, Illicit: 3, Right: 3}, tally.AtBudget(0, 9, 5))
}

// The new measures, like the old ones, see a set.
func TestCalibrationErrorDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var probabilities, other []float64
		var positive, otherPositive []bool
		for range rapid.IntRange(1, 40).Draw(rt, "samples") {
			probabilities = append(probabilities, rapid.Float64Range(0, 1).Draw(rt, "probability"))
			positive = append(positive, rapid.Bool().Draw(rt, "positive"))
		}
		for _, i := range graphtest.Permutation(len(positive), rapid.Uint64().Draw(rt, "order")) {
			other, otherPositive = append(other, probabilities[i]), append(otherPositive, positive[i])
		}
		want, _ := quality.CalibrationError(probabilities, positive)
		got, _ := quality.CalibrationError(other, otherPositive)
		require.Equal(rt, math.Float64bits(want), math.Float64bits(got))
	})
}
