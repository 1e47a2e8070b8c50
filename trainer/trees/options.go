package trees

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"lethe/canonical"
	"lethe/trainer/tabular"
)

// maxBins is what a row's bin number, one byte, can tell apart.
const maxBins = 256

// Options configure a fit. The zero value means the defaults, which
// EnsureDefaults fills in.
type Options struct {
	// Classes is the number of classes, default 2.
	Classes int
	// Rounds is how many trees are added, per class if there are more than two.
	// Default 100.
	Rounds int
	// UpdateRounds is how many rounds Update adds, default 10, and MaxRounds how
	// many it leaves, default 1000.
	UpdateRounds, MaxRounds int
	// LearningRate shrinks every tree, default 0.1.
	LearningRate float64
	// MaxLeaves bounds the leaves of a tree, which grows where the gain is
	// highest. Default 31.
	MaxLeaves int
	// MaxDepth bounds the splits between root and leaf; 0 means no bound.
	MaxDepth int
	// MinChildRows is the least number of rows in a leaf, default 20.
	MinChildRows int
	// MinChildWeight is the least sum of second derivatives in a leaf, default
	// 0.001.
	MinChildWeight float64
	// L2 is added to every sum of second derivatives. Default 0.
	L2 float64
	// MaxBins bounds the bins of a feature, 2 to 256. Default 64: on slices of
	// the size of Bitcoin-OTC more took longer and were no better.
	MaxBins int
	// FeatureShare is the share of features that a tree may split on, drawn
	// anew for each, above 0 and at most 1. Default 1.
	FeatureShare float64
	// Seed keys the draws of features. The caller puts the shard into it.
	Seed uint64
}

// EnsureDefaults returns a copy with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	o.Classes = cmp.Or(o.Classes, 2)
	o.Rounds = cmp.Or(o.Rounds, 100)
	o.UpdateRounds, o.MaxRounds = cmp.Or(o.UpdateRounds, 10), cmp.Or(o.MaxRounds, 1000)
	o.LearningRate = cmp.Or(o.LearningRate, 0.1)
	o.MaxLeaves = cmp.Or(o.MaxLeaves, 31)
	o.MinChildRows = cmp.Or(o.MinChildRows, 20)
	o.MinChildWeight = cmp.Or(o.MinChildWeight, 1e-3)
	o.MaxBins = cmp.Or(o.MaxBins, 64)
	o.FeatureShare = cmp.Or(o.FeatureShare, 1)
	return o
}

// Validate reports every value of defaulted options that is out of bounds.
func (o Options) Validate() error {
	var problems []error
	whole := func(name string, value, least, most int) {
		if value < least || value > most {
			problems = append(problems, fmt.Errorf("%s is %d, want %d to %d", name, value, least, most))
		}
	}
	number := func(name string, value, above, most float64) {
		if !(value > above && value <= most) {
			problems = append(problems, fmt.Errorf("%s is %g, want above %g, at most %g", name, value, above, most))
		}
	}
	whole("classes", o.Classes, 2, tabular.MaxClasses)
	whole("rounds", o.Rounds, 1, 1<<16)
	whole("update rounds", o.UpdateRounds, 1, 1<<16)
	whole("max rounds", o.MaxRounds, 1, 1<<16)
	whole("max leaves", o.MaxLeaves, 2, 1<<16)
	whole("max depth", o.MaxDepth, 0, 1<<16)
	whole("min child rows", o.MinChildRows, 1, math.MaxInt32)
	whole("max bins", o.MaxBins, 2, maxBins)
	number("learning rate", o.LearningRate, 0, 1)
	number("min child weight", o.MinChildWeight, 0, math.MaxFloat32)
	number("feature share", o.FeatureShare, 0, 1)
	if !(o.L2 >= 0 && o.L2 <= math.MaxFloat32) {
		problems = append(problems, fmt.Errorf("l2 is %g, want 0 to %g", o.L2, math.MaxFloat32))
	}
	return errors.Join(problems...)
}

// Append adds everything that a model depends on to a fingerprint. Unset fields
// count as their defaults.
func (o Options) Append(w *canonical.Writer) {
	o = o.EnsureDefaults()
	for _, v := range []int{o.Classes, o.Rounds, o.UpdateRounds, o.MaxRounds, o.MaxLeaves, o.MaxDepth, o.MinChildRows, o.MaxBins} {
		w.Uint32(uint32(v))
	}
	for _, v := range []float64{o.LearningRate, o.MinChildWeight, o.L2, o.FeatureShare} {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint64(o.Seed)
}
