package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

func rulesOf(t *testing.T, threshold string) rules {
	t.Helper()
	rule, err := decision.ParseRule(threshold)
	require.NoError(t, err)
	return rules{stack: stack.Defaults(), calibrate: calibrate.Defaults(), threshold: rule}
}

// knowing returns rows of which the first component knows the class and the second
// says the opposite.
func knowing(n int) rows {
	r := rows{components: 2}
	for i := range n {
		z, label := 3+float64(i%7)/8, lethe.Illicit
		if i%3 > 0 {
			z, label = -z, lethe.Licit
		}
		r.add([][]float64{{0, z}, {0, -z / 2}}, []lethe.Label{lethe.Unknown, label})
	}
	return r
}

func TestLearningWeighsWhatKnows(t *testing.T) {
	from := knowing(300)
	require.Len(t, from.labels, 300, "nodes without a label are no rows")
	mean, err := rulesOf(t, "auto").learn(from, false)
	require.NoError(t, err)
	require.Equal(t, []float64{.5, .5}, mean.combination.Coefficients())
	weighed, err := rulesOf(t, "auto").learn(from, true)
	require.NoError(t, err)
	require.Greater(t, weighed.combination.Coefficients()[0], 2*weighed.combination.Coefficients()[1])
	require.Equal(t, calibrate.Platt, weighed.calibration.Method())
	again, err := rulesOf(t, "auto").learn(from, true)
	require.NoError(t, err)
	require.Equal(t, weighed.digest(), again.digest())
	require.NotEqual(t, weighed.digest(), mean.digest())

	probabilities, threshold := weighed.score(rulesOf(t, "auto").threshold, [][]float64{{4, -4}, {-2, 2}})
	require.Greater(t, probabilities[0], threshold)
	require.Less(t, probabilities[1], threshold)
}

func TestBudgetsChooseFromTheScoredTimestep(t *testing.T) {
	r := rulesOf(t, "budget:1")
	one, err := r.learn(knowing(300), true)
	require.NoError(t, err)
	probabilities, threshold := one.score(r.threshold, [][]float64{{4, -4, 5}, {-2, 2, -2}})
	require.InDelta(t, probabilities[2], threshold, 0)
}

// With few rows there is nothing to learn: the mean logit, as it is.
func TestLearningFromNothing(t *testing.T) {
	one, err := rulesOf(t, "auto").learn(rows{components: 3}, true)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, one.combination.Coefficients(), 1e-12)
	require.Equal(t, calibrate.None, one.calibration.Method())
	require.InDelta(t, .5, one.threshold, 0)
}

func TestMembersAreTakenFromTheRows(t *testing.T) {
	all := rows{components: 3}
	all.add([][]float64{{1, 2}, {3, 4}, {5, 6}}, []lethe.Label{lethe.Licit, lethe.Illicit})
	some := all.of([]int{2, 0})
	require.Equal(t, []float64{5, 1}, some.row(0))
	require.Equal(t, []float64{6, 2}, some.row(1))
	require.Equal(t, all.labels, some.labels)
}

func TestRulesHaveADigest(t *testing.T) {
	digests := map[lethe.Digest]bool{}
	for _, threshold := range []string{"auto", "budget:5"} {
		for _, l2 := range []float64{1, 2} {
			for _, method := range calibrate.Methods() {
				r := rulesOf(t, threshold)
				r.stack.L2, r.calibrate.Method = l2, method
				digests[r.digest()] = true
			}
		}
	}
	require.Len(t, digests, 12)
}
