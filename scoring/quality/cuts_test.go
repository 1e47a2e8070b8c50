package quality_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
