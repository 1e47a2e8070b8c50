package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lethe/trainer"
	"lethe/trainer/models"
)

// The ways through a stream. Static trains on the first timesteps and never
// again, as the paper does. The other two are the trainer's schedules: every
// timestep is scored by what was learnt before it, and learnt from afterwards.
// Continual scores from the second timestep on, Window from the first after those
// that train, and Static all.
const (
	Static    = "static"
	Continual = trainer.Continual
	Window    = trainer.Window
)

// StreamSplit says how many timesteps train, validate and test, in stream order.
type StreamSplit struct {
	Train      int `json:"train"`
	Validation int `json:"validation"`
	Test       int `json:"test"`
}

// EllipticSplit is the paper's: timesteps 1-30, 31-34 and 35-49.
func EllipticSplit() StreamSplit { return StreamSplit{Train: 30, Validation: 4, Test: 15} }

// SplitFor is EllipticSplit for as many timesteps as Elliptic has and the same
// proportions for other numbers; a stream of two or more has a test.
func SplitFor(timesteps int) StreamSplit {
	e := EllipticSplit()
	if timesteps == e.total() {
		return e
	}
	test := max(1, timesteps*e.Test/e.total())
	validation := timesteps * e.Validation / e.total()
	return StreamSplit{Train: timesteps - validation - test, Validation: validation, Test: test}
}

// ParseSplit reads "30/4/15".
func ParseSplit(text string) (StreamSplit, error) {
	parts := strings.Split(text, "/")
	var n [3]int
	if len(parts) != len(n) {
		return StreamSplit{}, fmt.Errorf("a split is written train/validation/test, as 30/4/15, not %q", text)
	}
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil {
			return StreamSplit{}, fmt.Errorf("a split is written train/validation/test, as 30/4/15, not %q", text)
		}
		n[i] = v
	}
	s := StreamSplit{Train: n[0], Validation: n[1], Test: n[2]}
	return s, s.Validate()
}

// Validate checks the bounds.
func (s StreamSplit) Validate() error {
	if s.Train < 1 || s.Validation < 0 || s.Test < 1 {
		return fmt.Errorf("split %s: train and test want at least 1 timestep, validation at least 0", s)
	}
	return nil
}

// String writes the split as ParseSplit reads it.
func (s StreamSplit) String() string { return fmt.Sprintf("%d/%d/%d", s.Train, s.Validation, s.Test) }

func (s StreamSplit) total() int { return s.Train + s.Validation + s.Test }

// part names the part of the step at an index.
func (s StreamSplit) part(index int) string {
	switch {
	case index < s.Train:
		return "train"
	case index < s.Train+s.Validation:
		return "validation"
	default:
		return "test"
	}
}

// StreamSettings say how an ensemble goes through a stream. Of Settings, a
// stream does not use TrainFraction, Transductive and RawFeatures.
type StreamSettings struct {
	Settings
	Split StreamSplit `json:"split"`
	// Schedule is Static (default), Continual or Window, and WindowTimesteps is
	// how far the latter two look back: by default 10, and 1000, which is to say
	// all, for models that are fitted anew and for blends, of whose networks the
	// trainer has a bound of its own.
	Schedule        string `json:"schedule"`
	WindowTimesteps int    `json:"window_timesteps"`
	// KnownLabels is the share of every timestep's labels that had arrived when
	// it was scored, at least 0 and below 1. They are left out of what is
	// measured, and no model saw them; only Propagate uses them.
	KnownLabels float64 `json:"known_labels,omitempty"`
}

// EnsureDefaults returns a copy with every unset field filled in. Adam's default
// step is .003, its weight decay 1e-5 and the model elliptic-gin; epochs are 60
// for Static, 3 for Continual and 10 for Window, which is what was measured best
// on Bitcoin-OTC.
func (s StreamSettings) EnsureDefaults() StreamSettings {
	s.Schedule = cmp.Or(s.Schedule, Static)
	s.Model = cmp.Or(s.Model, models.EllipticGIN)
	s.LearningRate = cmp.Or(s.LearningRate, 0.003)
	s.WeightDecay = cmp.Or(s.WeightDecay, 1e-5)
	epochs := 60
	switch s.Schedule {
	case Continual:
		epochs = 3
	case Window:
		epochs = 10
	}
	s.Epochs = cmp.Or(s.Epochs, epochs)
	window := 10
	if s.Schedule != Static {
		window = trainer.DefaultsOf(s.Model).WindowTimesteps
	}
	s.WindowTimesteps = cmp.Or(s.WindowTimesteps, window)
	if s.Model == trainer.Blend && len(s.Components) == 0 {
		s.Components = trainer.DefaultsOf(trainer.Blend).Components
	}
	s.Settings = s.Settings.EnsureDefaults()
	return s
}

// firstLearnt is the index of the timestep after which models are trained first.
// Under Window nothing of a model reaches the next, so those that would score
// training timesteps only are left out.
func (s StreamSettings) firstLearnt() int {
	if s.Schedule == Window {
		return s.Split.Train - 1
	}
	return 0
}

// Validate reports everything that is wrong with the settings at once.
func (s StreamSettings) Validate() error {
	errs := []error{s.Settings.Validate(), s.Split.Validate()}
	if s.Schedule != Static && s.Schedule != Continual && s.Schedule != Window {
		errs = append(errs, fmt.Errorf("schedule is %q, want %s, %s or %s", s.Schedule, Static, Continual, Window))
	}
	if s.rowModel() && s.Schedule == Continual {
		errs = append(errs, fmt.Errorf("schedule is %q, want %s or %s for model %q, which is fitted anew", s.Schedule, Static,
			Window, s.Model))
	}
	if s.Model == trainer.Blend && s.Schedule == Window {
		errs = append(errs, fmt.Errorf("schedule is %q, want %s or %s for model %q, which remembers past losses", s.Schedule,
			Static, Continual, s.Model))
	}
	if s.WindowTimesteps < 1 {
		errs = append(errs, fmt.Errorf("window is %d timesteps, want at least 1", s.WindowTimesteps))
	}
	if !(s.KnownLabels >= 0 && s.KnownLabels < 1) {
		errs = append(errs, fmt.Errorf("known labels is %g, want at least 0, below 1: the others are measured",
			s.KnownLabels))
	}
	if s.Propagate && s.KnownLabels > 0 && s.Split.Validation < 1 {
		errs = append(errs, fmt.Errorf("split %s has no validation timesteps, on which the settings of propagation are "+
			"chosen", s.Split))
	}
	return errors.Join(errs...)
}
