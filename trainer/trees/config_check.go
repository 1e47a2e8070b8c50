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
	if c.Kind != "" {
		p.OneOf("kind", c.Kind, Boosted, Forest, Extra)
	}
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
	p.Number("min_gain", c.MinGain, 0, 1e9)
	p.Above("row_share", c.RowShare, 0, 1)
	p.Above("feature_share", c.FeatureShare, 0, 1)
	p.Above("split_share", c.SplitShare, 0, 1)
	p.Above("positive_weight", c.PositiveWeight, 0, 1e6)
	p.Number("l2", c.L2, 0, 1e6)
	p.That(c.boosts() || c.L2 == 0, "l2", c.L2, "0 for a forest, whose leaves are frequencies")
	p.That(c.Classes == 2 || c.PositiveWeight == 1, "positive_weight", c.PositiveWeight, "1 with %d classes", c.Classes)
	p.That(c.Classes == 2 || !c.constrained(), "monotone", c.Monotone, "no direction with %d classes", c.Classes)
	p.That(len(c.Monotone) <= tabular.MaxFeatures, "monotone", len(c.Monotone), "at most %d", tabular.MaxFeatures)
	for i, m := range c.Monotone {
		if m < -1 || m > 1 {
			p.Bad("monotone", m, "-1, 0 or 1 for feature %d", i)
			break
		}
	}
	return p.Err()
}

// Append adds every setting that a model depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	for _, v := range []int{
		c.Classes, c.Rounds, c.UpdateRounds, c.MaxRounds, c.MaxLeaves, c.MaxDepth, c.MinChildRows, c.MaxBins,
	} {
		w.Uint32(uint32(v))
	}
	for _, v := range []float64{
		c.LearningRate, c.MinChildWeight, c.L2, c.FeatureShare, c.MinGain, c.RowShare, c.SplitShare, c.PositiveWeight,
	} {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint64(c.Seed)
	w.Flag(c.boosts())
	w.Flag(c.Kind == Extra)
	w.Count(len(c.Monotone))
	for _, m := range c.Monotone {
		w.Uint32(uint32(m))
	}
}
