package trees

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/tabular"
)

func TestConfigSaysWhatIsWrong(t *testing.T) {
	require.NoError(t, Defaults().Validate())
	require.NoError(t, forestDefaults(Forest, 330).Validate())
	require.NoError(t, forestDefaults(Extra, 0).Validate())
	for want, change := range map[string]func(*Config){
		"kind is":            func(c *Config) { c.Kind = "bush" },
		"row_share is 0":     func(c *Config) { c.RowShare = 0 },
		"split_share is 2":   func(c *Config) { c.SplitShare = 2 },
		"min_gain is -1":     func(c *Config) { c.MinGain = -1 },
		"positive_weight":    func(c *Config) { c.PositiveWeight = math.NaN() },
		"l2 is 1":            func(c *Config) { c.Kind, c.L2 = Forest, 1 },
		"1 with 3 classes":   func(c *Config) { c.Classes, c.PositiveWeight = 3, 2 },
		"no direction with":  func(c *Config) { c.Classes, c.Monotone = 3, []int8{0, 1} },
		"-1, 0 or 1":         func(c *Config) { c.Monotone = []int8{0, 2} },
		"max_bins is 257":    func(c *Config) { c.MaxBins = 257 },
		"at most 65536":      func(c *Config) { c.Monotone = make([]int8, tabular.MaxFeatures+1) },
		"max_depth is -1":    func(c *Config) { c.MaxDepth = -1 },
		"max_leaves is 1":    func(c *Config) { c.MaxLeaves = 1 },
		"learning_rate is 0": func(c *Config) { c.LearningRate = 0 },
	} {
		require.ErrorContains(t, with(change).Validate(), want)
	}
	_, _, err := Fit(t.Context(), rings(10, 2, 1), with(func(c *Config) { c.PositiveWeight = -1 }))
	require.ErrorContains(t, err, "positive_weight is -1")
}

// Every setting that a model depends on moves the fingerprint.
func TestFingerprintKnowsEverySetting(t *testing.T) {
	seen := map[string]bool{}
	for i, change := range []func(*Config){
		func(*Config) {},
		func(c *Config) { c.Kind = Forest },
		func(c *Config) { c.Kind = Extra },
		func(c *Config) { c.MinGain = 1 },
		func(c *Config) { c.RowShare = .5 },
		func(c *Config) { c.SplitShare = .5 },
		func(c *Config) { c.PositiveWeight = 2 },
		func(c *Config) { c.Monotone = []int8{1} },
		func(c *Config) { c.Monotone = []int8{-1} },
		func(c *Config) { c.Seed = 1 },
	} {
		w := canonical.NewDigester("TEST", 1)
		with(change).Append(w)
		digest := w.Digest().String()
		require.False(t, seen[digest], i)
		seen[digest] = true
	}
}

// The weight of the positive class is that of its rows.
func TestPositiveWeightIsAWeight(t *testing.T) {
	r := rings(200, 2, 1)
	weighted := r
	for _, class := range r.Labels {
		weighted.Weights = append(weighted.Weights, float32(1+2*class))
	}
	o := with(func(c *Config) { c.Rounds, c.PositiveWeight = 10, 3 })
	m, _, err := Fit(t.Context(), r, o)
	require.NoError(t, err)
	o.PositiveWeight = 1
	n, _, err := Fit(t.Context(), weighted, o)
	require.NoError(t, err)
	require.Equal(t, n.Encode(), m.Encode())

	o.PositiveWeight = 1e6
	r.Weights = make([]float32, r.Len())
	for i := range r.Weights {
		r.Weights[i] = 1e6
	}
	_, _, err = Fit(t.Context(), r, o)
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
}

// A share of the rows is what it says, and every round draws anew.
func TestShareOfRows(t *testing.T) {
	r := rings(4000, 2, 1)
	s := newSampler(r, .3)
	one := func(int) float64 { return 1 }
	first, _ := s.draw(*lethe.NewDraw(1, "trees-rows", 0), one)
	require.InDelta(t, .3*4000, len(first), 100)
	was := append([]int32(nil), first...)
	second, rest := s.draw(*lethe.NewDraw(1, "trees-rows", 1), one)
	require.NotEqual(t, was, second)
	require.Len(t, rest, 4000-len(second))
	all, none := s.draw(*lethe.NewDraw(1, "trees-rows", 2), func(int) float64 { return 0 })
	require.Len(t, all, 4000)
	require.Empty(t, none)
}

// Drawn features ascend, since of equal splits the lowest feature wins.
func TestDrawnFeaturesAscend(t *testing.T) {
	seen := map[int]bool{}
	for round := range 50 {
		drawn := drawFeatures(40, round, with(func(c *Config) { c.FeatureShare = .3 }))
		require.Len(t, drawn, 12)
		require.True(t, slices.IsSorted(drawn))
		for _, f := range drawn {
			seen[f] = true
		}
	}
	require.Len(t, seen, 40)
}
