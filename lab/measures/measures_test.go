package measures_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/lab/measures"
	"lethe/scoring/graphtest"
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

// Where no scores tie the budget is counted by sorting; ties give the mean over all
// orders in which they could have been taken.
func TestBudgetCountsTheHighest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		budget := rapid.IntRange(0, 35).Draw(rt, "budget")
		got := measures.AtBudget(s.scores, s.positive, budget)
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
	b := measures.Budgeted{Alerts: 4, Illicit: 8, Right: 3}
	require.Equal(t, 0.75, b.Precision())
	require.Equal(t, 0.375, b.Recall())
	require.Zero(t, measures.Budgeted{}.Precision())
}

func TestTallySpendsABudgetInEveryTimestep(t *testing.T) {
	var tally measures.Tally
	for i, step := range []lethe.Timestep{1, 1, 2, 2, 2, 4} {
		tally.Add(step, float64(i)/8, []lethe.Label{lethe.Licit, lethe.Illicit}[i%2])
	}
	tally.Add(2, 1, lethe.Unknown)
	require.Equal(t, measures.Budgeted{Alerts: 2, Illicit: 2, Right: 1}, tally.AtBudget(1, 3, 1))
	require.Equal(t, measures.Budgeted{Alerts: 6, Illicit: 3, Right: 3}, tally.AtBudget(0, 9, 5))
}

func TestTallyDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type scored struct {
			timestep    lethe.Timestep
			probability float64
			label       lethe.Label
		}
		added := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) scored {
			return scored{
				lethe.Timestep(rapid.IntRange(0, 5).Draw(rt, "timestep")),
				float64(rapid.IntRange(0, 20).Draw(rt, "probability")) / 20,
				lethe.Label(rapid.IntRange(0, 2).Draw(rt, "label")),
			}
		}), 0, 40).Draw(rt, "scored")
		var tally, other measures.Tally
		var probabilities []float64
		var labels []lethe.Label
		for _, s := range added {
			tally.Add(s.timestep, s.probability, s.label)
			if s.timestep >= 1 && s.timestep <= 3 {
				probabilities = append(probabilities, s.probability)
				labels = append(labels, s.label)
			}
		}
		for _, i := range graphtest.Permutation(len(added), rapid.Uint64().Draw(rt, "order")) {
			other.Add(added[i].timestep, added[i].probability, added[i].label)
		}
		want := asJSON(rt, quality.Summarise(probabilities, labels, 0.5))
		require.Equal(rt, want, asJSON(rt, tally.Summarise(1, 3, 0.5)))
		require.Equal(rt, want, asJSON(rt, other.Summarise(1, 3, 0.5)))
		require.Equal(rt, tally.Timesteps(), other.Timesteps())
	})
}

func TestSummariseClasses(t *testing.T) {
	c, err := measures.NewConfusion([]int{0, 0, 1, 2}, []int{0, 1, 1, 1}, 4)
	require.NoError(t, err)
	// Class 3 never occurs; class 2 is never predicted.
	s := measures.SummariseClasses(c)
	require.InDelta(t, 0.5, s.Accuracy, 1e-12)
	require.InDelta(t, (1+1.0/3+0)/3, s.Precision, 1e-12)
	require.InDelta(t, (0.5+1+0)/3, s.Recall, 1e-12)
	require.InDelta(t, (2.0/3+0.5+0)/3, s.MacroF1, 1e-12)
	require.Nil(t, s.AUC)
	require.Equal(t, 4, s.Labelled)
}

func TestSummarisePosteriors(t *testing.T) {
	// Class 2 never occurs as a truth; row 3 has no label.
	posteriors := []float32{
		0.8, 0.1, 0.1,
		0.4, 0.4, 0.2, // the lowest class among equals
		0.3, 0.3, 0.4,
		0, 0, 1,
	}
	s, err := measures.SummarisePosteriors(posteriors, 3, []int{0, 0, 1, measures.NoClass})
	require.NoError(t, err)
	require.Equal(t, 3, s.Labelled)
	require.InDelta(t, 2.0/3, s.Accuracy, 1e-12)
	// Class 0 ranks its rows first; class 1 has .3 below .4: one of two pairs.
	require.InDelta(t, (1+0.5)/2, *s.AUC, 1e-12)
	require.InDelta(t, (1+0.5)/2, *s.AveragePrecision, 1e-12)
	require.Zero(t, s.IllicitF1)
	for _, truth := range [][]int{{0, 0, 1}, {0, 0, 1, 3}, {0, 0, 1, -2}} {
		_, err = measures.SummarisePosteriors(posteriors, 3, truth)
		require.Error(t, err)
	}
	one, err := measures.SummarisePosteriors(posteriors[:3], 3, []int{0})
	require.NoError(t, err)
	require.Nil(t, one.AUC, "undefined with one class only")
	require.Panics(t, func() { measures.MostLikely(posteriors, 5) })
}

// Of two classes, each is the other's rest, so the measures are those of the
// probability of one.
func TestTwoClassesAreSummarisedAsProbabilities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := samples().Draw(rt, "samples")
		var posteriors []float32
		truth, labels := []int{}, []lethe.Label{}
		for i, p := range s.scores {
			posteriors = append(posteriors, float32(1-p), float32(p))
			truth = append(truth, map[bool]int{false: 0, true: 1}[s.positive[i]])
			labels = append(labels, map[bool]lethe.Label{false: lethe.Licit, true: lethe.Illicit}[s.positive[i]])
		}
		// A tie is class 0 there, and illicit at a threshold of 1/2 here.
		want := quality.Summarise(s.scores, labels, 0.51)
		got, err := measures.SummarisePosteriors(posteriors, 2, truth)
		require.NoError(rt, err)
		require.Equal(rt, want.Accuracy, got.Accuracy)
		require.Equal(rt, want.MacroF1, got.MacroF1)
		require.Equal(rt, want.AUC == nil, got.AUC == nil)
		if got.AUC != nil {
			require.InDelta(rt, *want.AUC, *got.AUC, 1e-12)
		}
	})
}

func TestConfusionRefuses(t *testing.T) {
	_, err := measures.NewConfusion([]int{0}, nil, 2)
	require.EqualError(t, err, "1 true and 0 predicted classes")
	_, err = measures.NewConfusion([]int{0, 1}, []int{0, 2}, 2)
	require.EqualError(t, err, "sample 1 has class 1 and was taken for 2, want 0 to 1")
	_, err = measures.NewConfusion(nil, nil, 0)
	require.EqualError(t, err, "0 classes, want at least 1")
}
