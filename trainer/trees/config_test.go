package trees

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
)

func TestConfigSaysWhatIsWrong(t *testing.T) {
	require.NoError(t, Defaults().Validate())
	for want, change := range map[string]func(*Config){
		"row_share is 0":     func(c *Config) { c.RowShare = 0 },
		"max_bins is 257":    func(c *Config) { c.MaxBins = 257 },
		"max_leaves is 1":    func(c *Config) { c.MaxLeaves = 1 },
		"learning_rate is 0": func(c *Config) { c.LearningRate = 0 },
	} {
		require.ErrorContains(t, with(change).Validate(), want)
	}
	_, _, err := Fit(t.Context(), rings(10, 2, 1), with(func(c *Config) { c.MaxLeaves = 1 }))
	require.ErrorContains(t, err, "max_leaves is 1")
}

// Every setting that a model depends on moves the fingerprint.
func TestFingerprintKnowsEverySetting(t *testing.T) {
	seen := map[string]bool{}
	for i, change := range []func(*Config){
		func(*Config) {},
		func(c *Config) { c.RowShare = .5 },
		func(c *Config) { c.Seed = 1 },
	} {
		w := canonical.NewDigester("TEST", 1)
		with(change).Append(w)
		digest := w.Digest().String()
		require.False(t, seen[digest], i)
		seen[digest] = true
	}
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
