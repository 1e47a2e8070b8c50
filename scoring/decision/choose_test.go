package decision

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/scoring/graphtest"
)

type labelled struct {
	probabilities []float64
	labels        []lethe.Label
}

// drawLabelled draws probabilities that often tie.
func drawLabelled(t *rapid.T) labelled {
	var l labelled
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		l.probabilities = append(l.probabilities, float64(rapid.IntRange(0, 16).Draw(t, "probability"))/16)
		l.labels = append(l.labels, lethe.Label(rapid.IntRange(0, 2).Draw(t, "label")))
	}
	return l
}

// at counts the labelled alerts of a threshold, those right, and all illicit rows.
func (l labelled) at(threshold float64) (alerts, right, illicit int) {
	for i, p := range l.probabilities {
		if l.labels[i] == lethe.Illicit {
			illicit++
		}
		if p < threshold || l.labels[i] == lethe.Unknown {
			continue
		}
		alerts++
		if l.labels[i] == lethe.Illicit {
			right++
		}
	}
	return alerts, right, illicit
}

// oneClass reports whether only one class is known, or none, and checks that then nobody is called illicit of whom
// models that have learned nothing, or only of illicit transactions, say as much as of everybody else.
func (l labelled) oneClass(t require.TestingT, chosen float64) bool {
	all, _, illicit := l.at(0)
	switch illicit {
	case 0:
		require.Equal(t, math.Nextafter(.5, 1), chosen)
	case all:
		require.Equal(t, 1., chosen)
	default:
		return false
	}
	return true
}

func (l labelled) f1(threshold float64) float64 {
	alerts, right, illicit := l.at(threshold)
	return 2 * float64(right) / float64(alerts+illicit)
}

func rule(t require.TestingT, text string) Rule {
	r, err := ParseRule(text)
	require.NoError(t, err)
	return r
}

// Thresholds between all probabilities, and at them, are tried one by one; those of
// 1/32 lie below and above every probability.
func thresholds() []float64 {
	var out []float64
	for i := range 35 {
		out = append(out, float64(i)/32)
	}
	return out
}

func TestAutoIsTheBestOfAllThresholds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLabelled(t)
		chosen := Choose(rule(t, "auto"), l.probabilities, l.labels)
		if l.oneClass(t, chosen) {
			return
		}
		for _, threshold := range thresholds() {
			require.LessOrEqual(t, l.f1(threshold), l.f1(chosen))
			if alerts, _, _ := l.at(threshold); l.f1(threshold) == l.f1(chosen) {
				fewer, _, _ := l.at(chosen)
				require.LessOrEqual(t, fewer, alerts, "of equal thresholds the highest")
			}
		}
	})
}

func TestPrecisionIsTheLowestThresholdThatReachesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLabelled(t)
		wanted := rapid.SampledFrom([]float64{0.25, 0.5, 0.75, 1}).Draw(t, "wanted")
		chosen := Choose(Rule{precision, wanted}, l.probabilities, l.labels)
		if l.oneClass(t, chosen) {
			return
		}
		alerts, right, illicit := l.at(chosen)
		best, least, reached := 0.0, min(10, illicit), float64(right)/float64(alerts) >= wanted
		for _, threshold := range thresholds() {
			n, r, _ := l.at(threshold)
			if n == 0 {
				continue
			}
			got := float64(r) / float64(n)
			if got >= wanted {
				require.True(t, reached)
				require.LessOrEqual(t, n, alerts)
			}
			if n >= least {
				best = max(best, got)
			}
		}
		if !reached {
			require.Equal(t, best, float64(right)/float64(alerts))
			require.GreaterOrEqual(t, alerts, least)
		}
	})
}

func TestBudgetRaisesItsAlerts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		distinct := rapid.SliceOfDistinct(rapid.Float64Range(0, 1), rapid.ID[float64]).Draw(t, "probabilities")
		threshold := Choose(Rule{budget, float64(n)}, distinct, nil)
		alerts := 0
		for _, p := range distinct {
			if p >= threshold {
				alerts++
			}
		}
		require.Equal(t, min(n, len(distinct)), alerts)
	})
	tied := []float64{0.25, 0.75, 0.5, 0.5, 0.5}
	require.Equal(t, 0.5, Choose(rule(t, "budget:2"), tied, nil))
	require.Equal(t, 0.25, Choose(rule(t, "budget:9"), tied, nil))
	require.Greater(t, Choose(rule(t, "budget:9"), nil, nil), .5)
	equal := []float64{.5, .5, .5}
	require.Greater(t, Choose(rule(t, "budget:2"), equal, nil), .5, "nothing tells them apart")
	require.Equal(t, .5, Choose(rule(t, "budget:3"), equal, nil))
	require.Equal(t, 1., Choose(rule(t, "budget:1"), []float64{1, 1}, nil))
}

func TestChoiceIsAFunctionOfTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLabelled(t)
		var other labelled
		for _, i := range graphtest.Permutation(len(l.labels), rapid.Uint64().Draw(t, "order")) {
			other.probabilities = append(other.probabilities, l.probabilities[i])
			other.labels = append(other.labels, l.labels[i])
		}
		for _, text := range []string{"auto", "precision:0.5", "budget:7", "0.25"} {
			want := Choose(rule(t, text), l.probabilities, l.labels)
			got := Choose(rule(t, text), other.probabilities, other.labels)
			require.Equal(t, math.Float64bits(want), math.Float64bits(got))
		}
	})
}

func TestThresholdsLieMidway(t *testing.T) {
	probabilities := []float64{0.875, 0.75, 0.25, 0.125}
	labels := []lethe.Label{lethe.Illicit, lethe.Illicit, lethe.Licit, lethe.Licit}
	require.Equal(t, 0.5, Choose(rule(t, "auto"), probabilities, labels))
	require.Equal(t, 0.1875, Choose(rule(t, "precision:0.6"), probabilities, labels))
	// No number lies between neighbours of double precision.
	above := math.Nextafter(0.25, 1)
	require.Equal(t, above, Choose(rule(t, "auto"), []float64{0.25, above}, []lethe.Label{lethe.Licit, lethe.Illicit}))
	require.Equal(t, 0.25, Choose(rule(t, "0.25"), nil, nil))
	require.Panics(t, func() { Choose(rule(t, "auto"), probabilities, nil) })
}
