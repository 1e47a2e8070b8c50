package trees

import (
	"math"

	"lethe/canonical"
	"lethe/internal/check"
	"lethe/trainer/tabular"
)

// maxBins is what a row's bin number, one byte, can tell apart.
const maxBins = 256

// Config shapes a fit.
type Config struct {
	// Classes is the number of classes.
	Classes int `yaml:"-"`
	// Rounds is how many trees are added, per class if there are more than two.
	Rounds int `yaml:"-"`
	// UpdateRounds is how many rounds Update adds, and MaxRounds how many it
	// leaves.
	UpdateRounds, MaxRounds int `yaml:"-"`
	// LearningRate shrinks every tree.
	LearningRate float64 `yaml:"-"`
	// MaxLeaves bounds the leaves of a tree, which grows where the gain is
	// highest.
	MaxLeaves int `yaml:"-"`
	// MaxDepth bounds the splits between root and leaf; 0 means no bound.
	MaxDepth int `yaml:"-"`
	// MinChildRows is the least number of rows in a leaf.
	MinChildRows int `yaml:"-"`
	// MinChildWeight is the least sum of second derivatives in a leaf.
	MinChildWeight float64 `yaml:"-"`
	// L2 is added to every sum of second derivatives.
	L2 float64 `yaml:"-"`
	// MaxBins bounds the bins of a feature, 2 to 256.
	MaxBins int `yaml:"-"`
	// FeatureShare is the share of features that a tree may split on, drawn
	// anew for each, above 0 and at most 1.
	FeatureShare float64 `yaml:"-"`
	// Seed keys the draws of features. The caller puts the shard into it.
	Seed uint64 `yaml:"-"`
}

// Defaults returns the configuration of a forest of its own for two classes. It
// has 64 bins: on slices of the size of Bitcoin-OTC more took longer and were no
// better.
func Defaults() Config {
	return Config{
		Classes: 2, Rounds: 100, UpdateRounds: 10, MaxRounds: 1000, LearningRate: 0.1, MaxLeaves: 31,
		MinChildRows: 20, MinChildWeight: 1e-3, MaxBins: 64, FeatureShare: 1,
	}
}

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("classes", c.Classes, 2, tabular.MaxClasses)
	p.Whole("rounds", c.Rounds, 1, 1<<16)
	p.Whole("update_rounds", c.UpdateRounds, 1, 1<<16)
	p.Whole("max_rounds", c.MaxRounds, 1, 1<<16)
	p.Whole("max_leaves", c.MaxLeaves, 2, 1<<16)
	p.Whole("max_depth", c.MaxDepth, 0, 1<<16)
	p.Whole("min_child_rows", c.MinChildRows, 1, math.MaxInt32)
	p.Whole("max_bins", c.MaxBins, 2, maxBins)
	p.Above("learning_rate", c.LearningRate, 0, 1)
	p.Above("min_child_weight", c.MinChildWeight, 0, 1e6)
	p.Above("feature_share", c.FeatureShare, 0, 1)
	p.Number("l2", c.L2, 0, 1e6)
	return p.Err()
}

// Append adds everything that a model depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	for _, v := range []int{
		c.Classes, c.Rounds, c.UpdateRounds, c.MaxRounds, c.MaxLeaves, c.MaxDepth, c.MinChildRows, c.MaxBins,
	} {
		w.Uint32(uint32(v))
	}
	for _, v := range []float64{c.LearningRate, c.MinChildWeight, c.L2, c.FeatureShare} {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint64(c.Seed)
}
