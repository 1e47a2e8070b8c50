package quality_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/scoring/quality"
)

type sample struct {
	scores   []float64
	positive []bool
}

// samples draws few distinct scores, so that ties are common.
func samples() *rapid.Generator[sample] {
	return rapid.Custom(func(rt *rapid.T) sample {
		var s sample
		for range rapid.IntRange(0, 30).Draw(rt, "samples") {
			s.scores = append(s.scores, float64(rapid.IntRange(0, 8).Draw(rt, "score"))/8)
			s.positive = append(s.positive, rapid.Bool().Draw(rt, "positive"))
		}
		return s
	})
}

func TestAUCIsTheShareOfPairsInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		won, pairs := 0.0, 0.0
		for i, p := range s.positive {
			for j, q := range s.positive {
				if p && !q {
					pairs++
					switch {
					case s.scores[i] > s.scores[j]:
						won++
					case s.scores[i] == s.scores[j]:
						won += 0.5
					}
				}
			}
		}
		auc, ok := quality.AUC(s.scores, s.positive)
		require.Equal(rt, pairs > 0, ok)
		if ok {
			require.InDelta(rt, won/pairs, auc, 1e-12)
		}
	})
}

func TestOnlyTheOrderOfScoresCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		transformed := make([]float64, len(s.scores))
		negated := make([]float64, len(s.scores))
		for i, x := range s.scores {
			transformed[i] = math.Exp(3*x) - 7
			negated[i] = -x
		}
		auc, ok := quality.AUC(s.scores, s.positive)
		got, gotOK := quality.AUC(transformed, s.positive)
		require.Equal(rt, ok, gotOK)
		require.Equal(rt, auc, got)
		ap, ok := quality.AveragePrecision(s.scores, s.positive)
		gotAP, gotOK := quality.AveragePrecision(transformed, s.positive)
		require.Equal(rt, ok, gotOK)
		require.Equal(rt, ap, gotAP)
		if reversed, ok := quality.AUC(negated, s.positive); ok {
			require.InDelta(rt, 1-auc, reversed, 1e-12)
		}
	})
}

func TestServedClassesCount(t *testing.T) {
	labels := []lethe.Label{lethe.Illicit, lethe.Licit, lethe.Unknown, lethe.Illicit}
	s := quality.SummariseServed([]float64{.9, .8, .7, .1}, []bool{false, false, true, true}, labels)
	require.Equal(t, 3, s.Labelled)
	require.Equal(t, 1., s.Precision)
	require.Equal(t, .5, s.Recall)
}
