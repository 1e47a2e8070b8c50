package propagation

import (
	"errors"
	"fmt"
	"math"
)

// ResidualScale says how the correct step sizes the errors that it spread.
type ResidualScale string

// The scales, under the names of Huang et al. 2021.
const (
	// Autoscale gives every corrected row the mean error of the known ones.
	Autoscale ResidualScale = "autoscale"
	// FDiff keeps known errors fixed, takes the neighbours' mean elsewhere
	// and multiplies it by ResidualFactor.
	FDiff ResidualScale = "fdiff"
)

// maxPropagationSteps is ten times what settles at the largest alpha in use.
const maxPropagationSteps = 1000

// Options are the settings of Propagate. The zero value of a field
// stands for its default, so the zero struct runs both steps.
type Options struct {
	// NoCorrect and NoSmooth leave out a step; both leave the posteriors alone.
	NoCorrect bool `json:"no_correct,omitempty"`
	NoSmooth  bool `json:"no_smooth,omitempty"`

	// CorrectAlpha is the share of the neighbours' errors in a round of the
	// correct step, CorrectSteps the number of rounds. Defaults 0.85 and 10.
	// FDiff takes all from the neighbours and ignores CorrectAlpha.
	CorrectAlpha float64 `json:"correct_alpha"`
	CorrectSteps int     `json:"correct_steps"`
	// ResidualScale is Autoscale by default.
	ResidualScale ResidualScale `json:"residual_scale"`
	// ResidualFactor is FDiff's s, 1 by default. Autoscale ignores it.
	ResidualFactor float64 `json:"residual_factor"`

	// SmoothAlpha and SmoothSteps are those of the smooth step. Defaults 0.85
	// and 10.
	SmoothAlpha float64 `json:"smooth_alpha"`
	SmoothSteps int     `json:"smooth_steps"`
}

// EnsureDefaults replaces zero fields by their defaults.
func (o *Options) EnsureDefaults() {
	alpha := func(v *float64) {
		if *v == 0 {
			*v = 0.85
		}
	}
	steps := func(v *int) {
		if *v == 0 {
			*v = 10
		}
	}
	alpha(&o.CorrectAlpha)
	alpha(&o.SmoothAlpha)
	steps(&o.CorrectSteps)
	steps(&o.SmoothSteps)
	if o.ResidualScale == "" {
		o.ResidualScale = Autoscale
	}
	if o.ResidualFactor == 0 {
		o.ResidualFactor = 1
	}
}

// Validate reports every field that is out of bounds.
func (o *Options) Validate() error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("propagation "+format, args...))
		}
	}
	refuse(!(o.CorrectAlpha > 0 && o.CorrectAlpha < 1), "correct alpha is %v, want a number between 0 and 1", o.CorrectAlpha)
	refuse(!(o.SmoothAlpha > 0 && o.SmoothAlpha < 1), "smooth alpha is %v, want a number between 0 and 1", o.SmoothAlpha)
	refuse(o.CorrectSteps < 1 || o.CorrectSteps > maxPropagationSteps,
		"correct steps is %d, want 1 to %d", o.CorrectSteps, maxPropagationSteps)
	refuse(o.SmoothSteps < 1 || o.SmoothSteps > maxPropagationSteps,
		"smooth steps is %d, want 1 to %d", o.SmoothSteps, maxPropagationSteps)
	refuse(o.ResidualScale != Autoscale && o.ResidualScale != FDiff,
		"residual scale is %q, want %s or %s", o.ResidualScale, Autoscale, FDiff)
	refuse(!(o.ResidualFactor > 0) || math.IsInf(o.ResidualFactor, 1),
		"residual factor is %v, want a positive number", o.ResidualFactor)
	return errors.Join(errs...)
}

// String names the settings as a table prints them, such as
// "autoscale 10×0.85, smooth 10×0.85", "smooth 50×0.9" or "none". Defaults must
// have been filled in.
func (o Options) String() string {
	smooth := fmt.Sprintf("smooth %d×%v", o.SmoothSteps, o.SmoothAlpha)
	correct := fmt.Sprintf("%s %d×%v", o.ResidualScale, o.CorrectSteps, o.CorrectAlpha)
	if o.ResidualScale == FDiff {
		correct = fmt.Sprintf("%s %d, factor %v", o.ResidualScale, o.CorrectSteps, o.ResidualFactor)
	}
	switch {
	case o.NoCorrect && o.NoSmooth:
		return "none"
	case o.NoCorrect:
		return smooth
	case o.NoSmooth:
		return correct
	default:
		return correct + ", " + smooth
	}
}
