package dataset

import (
	"errors"
	"fmt"

	"lethe"
)

// GenerateOptions says what Generate makes. The zero value of a field stands
// for its default, except Seed, where 0 is a seed like any other.
type GenerateOptions struct {
	// Steps is the number of timesteps, numbered from 1. Default 20.
	Steps int
	// NodesPerStep is the number of transactions of every step. Default 400:
	// twenty shards get twenty each. At least 20.
	NodesPerStep int
	// Features is the number of features. Default 165, Elliptic's without the
	// timestep: 94 of 165 are local, the others computed from the neighbours'.
	// At least 2.
	Features int
	// Seed keys every draw.
	Seed uint64
	// IllicitFraction and LicitFraction are the shares of transactions that
	// carry these labels; the others are unknown. Defaults .02 and .21, as in
	// Elliptic.
	IllicitFraction, LicitFraction float64
	// DriftStep is the first timestep at which laundering looks and is
	// organised differently. Default 13, which leaves 60 % of the default
	// stream before it. It does not follow Steps, for a longer stream has to
	// begin with the very bytes of a shorter one. A step beyond the last means
	// no drift.
	DriftStep lethe.Timestep
}

// hiddenPerLabelled is how many illicit transactions stay unknown for each that
// was found: investigators find fewer than half. At the default fractions 3 %
// of the unknown transactions are illicit, against 9 % of the labelled ones,
// for investigators look where they suspect something.
const hiddenPerLabelled = 1.2

// minLabelledIllicit is what every step has at least, so that a small stream
// can be learnt from.
const minLabelledIllicit = 4

// Bounds of the options. maxNodes keeps ids at Elliptic's nine digits.
const (
	minNodesPerStep = 20
	minFeatures     = 2
	maxFeatures     = 10_000
	maxNodes        = 100_000_000
)

// EnsureDefaults returns the options with defaults for what is not set.
func (o GenerateOptions) EnsureDefaults() GenerateOptions {
	if o.Steps == 0 {
		o.Steps = 20
	}
	if o.NodesPerStep == 0 {
		o.NodesPerStep = 400
	}
	if o.Features == 0 {
		o.Features = 165
	}
	if o.IllicitFraction == 0 {
		o.IllicitFraction = .02
	}
	if o.LicitFraction == 0 {
		o.LicitFraction = .21
	}
	if o.DriftStep == 0 {
		o.DriftStep = 13
	}
	return o
}

// Validate reports every value outside its bounds. It expects defaults to be
// set.
func (o GenerateOptions) Validate() error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	refuse(o.Steps < 1 || o.Steps > maxNodes, "steps is %d, want 1 to %d", o.Steps, maxNodes)
	refuse(o.NodesPerStep < minNodesPerStep || o.NodesPerStep > maxNodes,
		"nodes per step is %d, want %d to %d", o.NodesPerStep, minNodesPerStep, maxNodes)
	refuse(len(problems) == 0 && o.Steps > maxNodes/o.NodesPerStep,
		"steps times nodes per step is %d times %d, want at most %d", o.Steps, o.NodesPerStep, maxNodes)
	refuse(o.Features < minFeatures || o.Features > maxFeatures,
		"features is %d, want %d to %d", o.Features, minFeatures, maxFeatures)
	// Written so that NaN is refused.
	refuse(!(o.IllicitFraction > 0 && o.IllicitFraction <= .15), "illicit fraction is %g, want above 0 and at most 0.15", o.IllicitFraction)
	refuse(!(o.LicitFraction > 0 && o.LicitFraction <= .5), "licit fraction is %g, want above 0 and at most 0.5", o.LicitFraction)
	refuse(o.DriftStep < 1, "drift step is %d, want at least 1", o.DriftStep)
	return errors.Join(problems...)
}
