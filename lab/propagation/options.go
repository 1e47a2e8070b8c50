package propagation

import (
	"encoding/json"
	"fmt"

	"lethe/internal/check"
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

// Options are the settings of Propagate; begin with Defaults.
type Options struct {
	// Correct and Smooth are the steps to take; without both, posteriors stay as
	// they are. JSON names those that are left out, see MarshalJSON.
	Correct bool `json:"-"`
	Smooth  bool `json:"-"`

	// CorrectAlpha is the share of the neighbours' errors in a round of the
	// correct step, CorrectSteps the number of rounds. FDiff takes all from the
	// neighbours and ignores CorrectAlpha.
	CorrectAlpha  float64       `json:"correct_alpha"`
	CorrectSteps  int           `json:"correct_steps"`
	ResidualScale ResidualScale `json:"residual_scale"`
	// ResidualFactor is FDiff's s. Autoscale ignores it.
	ResidualFactor float64 `json:"residual_factor"`

	// SmoothAlpha and SmoothSteps are those of the smooth step.
	SmoothAlpha float64 `json:"smooth_alpha"`
	SmoothSteps int     `json:"smooth_steps"`
}

// Defaults take both steps, ten rounds of 0.85 each.
func Defaults() Options {
	return Options{
		Correct: true, CorrectAlpha: 0.85, CorrectSteps: 10, ResidualScale: Autoscale, ResidualFactor: 1,
		Smooth: true, SmoothAlpha: 0.85, SmoothSteps: 10,
	}
}

// Validate reports every field that is out of bounds.
func (o Options) Validate() error {
	var p check.Problems
	between := func(key string, alpha float64) {
		p.That(alpha > 0 && alpha < 1, key, alpha, "more than 0, less than 1")
	}
	between("correct_alpha", o.CorrectAlpha)
	between("smooth_alpha", o.SmoothAlpha)
	p.Whole("correct_steps", o.CorrectSteps, 1, maxPropagationSteps)
	p.Whole("smooth_steps", o.SmoothSteps, 1, maxPropagationSteps)
	p.OneOf("residual_scale", string(o.ResidualScale), string(Autoscale), string(FDiff))
	p.Above("residual_factor", o.ResidualFactor, 0, 1000)
	return p.Err()
}

type plain Options

// written is the JSON of Options, under which results are kept.
type written struct {
	WithoutCorrect bool `json:"no_correct,omitempty"`
	WithoutSmooth  bool `json:"no_smooth,omitempty"`
	plain
}

// MarshalJSON writes no_correct and no_smooth for steps that are left out.
func (o Options) MarshalJSON() ([]byte, error) {
	return json.Marshal(written{!o.Correct, !o.Smooth, plain(o)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Options) UnmarshalJSON(text []byte) error {
	var w written
	err := json.Unmarshal(text, &w)
	*o = Options(w.plain)
	o.Correct, o.Smooth = !w.WithoutCorrect, !w.WithoutSmooth
	return err
}

// String names the settings as a table prints them, such as
// "autoscale 10×0.85, smooth 10×0.85", "smooth 50×0.9" or "none".
func (o Options) String() string {
	smooth := fmt.Sprintf("smooth %d×%v", o.SmoothSteps, o.SmoothAlpha)
	correct := fmt.Sprintf("%s %d×%v", o.ResidualScale, o.CorrectSteps, o.CorrectAlpha)
	if o.ResidualScale == FDiff {
		correct = fmt.Sprintf("%s %d, factor %v", o.ResidualScale, o.CorrectSteps, o.ResidualFactor)
	}
	switch {
	case !o.Correct && !o.Smooth:
		return "none"
	case !o.Correct:
		return smooth
	case !o.Smooth:
		return correct
	default:
		return correct + ", " + smooth
	}
}
