package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
)

func rulesOf(t *testing.T, threshold string) meta.Config {
	t.Helper()
	rule, err := decision.ParseRule(threshold)
	require.NoError(t, err)
	c := meta.Defaults()
	c.Threshold = rule
	return c
}

// score returns the probabilities of a timestep's nodes and the threshold of their class.
func score(m *meta.Model, rule decision.Rule, logits [][]float64) ([]float64, float64) {
	probabilities := m.Probabilities(logits)
	return probabilities, m.ThresholdFor(rule, probabilities)
}

// knowing returns rows of which the first component knows the class and the second
// says the opposite.
func knowing(n int) stack.Rows {
	r := stack.Rows{Components: 2}
	for i := range n {
		z, label := 3+float64(i%7)/8, lethe.Illicit
		if i%3 > 0 {
			z, label = -z, lethe.Licit
		}
		add(&r, [][]float64{{0, z}, {0, -z / 2}}, []lethe.Label{lethe.Unknown, label})
	}
	return r
}

func TestLearningWeighsWhatKnows(t *testing.T) {
	from := knowing(300)
	require.Len(t, from.Illicit, 300, "nodes without a label are no rows")
	mean, err := learn(rulesOf(t, "auto"), from, false)
	require.NoError(t, err)
	require.Equal(t, []float64{.5, .5}, mean.Combination.Coefficients())
	weighed, err := learn(rulesOf(t, "auto"), from, true)
	require.NoError(t, err)
	require.Greater(t, weighed.Combination.Coefficients()[0], 2*weighed.Combination.Coefficients()[1])
	require.Equal(t, calibrate.Platt, weighed.Calibration.Method())
	again, err := learn(rulesOf(t, "auto"), from, true)
	require.NoError(t, err)
	require.Equal(t, digestOf(weighed), digestOf(again))
	require.NotEqual(t, digestOf(weighed), digestOf(mean))

	probabilities, threshold := score(weighed, rulesOf(t, "auto").Threshold, [][]float64{{4, -4}, {-2, 2}})
	require.Greater(t, probabilities[0], threshold)
	require.Less(t, probabilities[1], threshold)
}

func TestBudgetsChooseFromTheScoredTimestep(t *testing.T) {
	r := rulesOf(t, "budget:1")
	one, err := learn(r, knowing(300), true)
	require.NoError(t, err)
	probabilities, threshold := score(one, r.Threshold, [][]float64{{4, -4, 5}, {-2, 2, -2}})
	require.InDelta(t, probabilities[2], threshold, 0)
}

// With few rows there is nothing to learn: the mean logit, as it is.
func TestLearningFromNothing(t *testing.T) {
	one, err := learn(rulesOf(t, "auto"), stack.Rows{Components: 3}, true)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, one.Combination.Coefficients(), 1e-12)
	require.Equal(t, calibrate.None, one.Calibration.Method())
	require.InDelta(t, decision.Undecided, one.Threshold, 0)
}

func TestMembersAreTakenFromTheRows(t *testing.T) {
	all := stack.Rows{Components: 3}
	add(&all, [][]float64{{1, 2}, {3, 4}, {5, 6}}, []lethe.Label{lethe.Licit, lethe.Illicit})
	some := rowsOf(all, []int{2, 0})
	require.Equal(t, []float64{5, 1, 6, 2}, some.Logits)
	require.Equal(t, all.Illicit, some.Illicit)
}

func TestRulesHaveADigest(t *testing.T) {
	digests := map[lethe.Digest]bool{}
	for _, threshold := range []string{"auto", "budget:5"} {
		for _, l2 := range []float64{1, 2} {
			for _, method := range calibrate.Methods() {
				r := rulesOf(t, threshold)
				r.Stack.L2, r.Calibration.Method = l2, method
				digests[r.Fingerprint()] = true
			}
		}
	}
	require.Len(t, digests, 12)
}
