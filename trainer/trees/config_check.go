package trees

import (
	"math"

	"lethe/canonical"
	"lethe/internal/check"
	"lethe/trainer/tabular"
)

// maxBins is the number of values of a bin number, one byte.
const maxBins = 256

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("classes", c.Classes, 2, tabular.MaxClasses)
	p.Whole("rounds", c.Rounds, 1, 1<<16)
	p.Whole("update_rounds", c.UpdateRounds, 1, 1<<16)
	p.Whole("max_rounds", c.MaxRounds, 1, 1<<16)
	p.Whole("max_leaves", c.MaxLeaves, 2, 1<<16)
	p.Whole("min_child_rows", c.MinChildRows, 1, math.MaxInt32)
	p.Whole("max_bins", c.MaxBins, 2, maxBins)
	p.Above("learning_rate", c.LearningRate, 0, 1)
	p.Above("min_child_weight", c.MinChildWeight, 0, 1e6)
	p.Above("row_share", c.RowShare, 0, 1)
	p.Above("feature_share", c.FeatureShare, 0, 1)
	p.Number("l2", c.L2, 0, 1e6)
	return p.Err()
}

// Append adds every setting that a model depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	for _, v := range []int{c.Classes, c.Rounds, c.UpdateRounds, c.MaxRounds, c.MaxLeaves, c.MinChildRows, c.MaxBins} {
		w.Uint32(uint32(v))
	}
	for _, v := range []float64{c.LearningRate, c.MinChildWeight, c.L2, c.FeatureShare, c.RowShare} {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint64(c.Seed)
}
