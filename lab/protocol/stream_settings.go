package protocol

import (
	"fmt"
	"strconv"
	"strings"

	"lethe/internal/check"
	"lethe/lab/networks"
	"lethe/trainer"
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

// Schedules lists them.
func Schedules() []string { return []string{Static, Continual, Window} }

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
	if timesteps == e.Total() {
		return e
	}
	test := max(1, timesteps*e.Test/e.Total())
	validation := timesteps * e.Validation / e.Total()
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

// Total is the number of timesteps of all three parts.
func (s StreamSplit) Total() int { return s.Train + s.Validation + s.Test }

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

// StreamSettings say how an ensemble goes through a stream; begin with
// StreamDefaults. Of Settings, a
// stream does not use TrainFraction, Transductive and RawFeatures.
type StreamSettings struct {
	Settings
	Split StreamSplit `json:"split" help:"Timesteps that train, validate and test."`
	// Schedule is Static, which trains on the first timesteps only; Continual, which scores
	// each timestep, then goes on from the last weights with it; or Window, which begins
	// anew each time. WindowTimesteps is how far the latter two look back: by default 10, and 1000, which is to say
	// all, for models that are fitted anew and for blends, of whose networks the
	// trainer has a bound of its own.
	Schedule string `json:"schedule" help:"static learns nothing later, continual goes on, window begins anew each time."`
	// WindowTimesteps is described with Schedule.
	WindowTimesteps int `json:"window_timesteps" help:"Timesteps that continual and window look back."`
	// KnownLabels is the share of every timestep's labels that had arrived when
	// it was scored, at least 0 and below 1. They are left out of what is
	// measured, and no model saw them; only Propagate uses them.
	KnownLabels float64 `json:"known_labels,omitempty" help:"Share of labels that were known at scoring; not measured."`
}

// StreamDefaults are the settings of a model on a stream under a schedule that
// were measured best on Bitcoin-OTC: 60 epochs for Static, 3 for Continual and 10
// for Window.
func StreamDefaults(model, schedule string, split StreamSplit) StreamSettings {
	s := StreamSettings{Settings: Defaults(model), Split: split, Schedule: schedule, WindowTimesteps: 10}
	s.LearningRate, s.WeightDecay, s.Epochs = 0.003, 1e-5, 60
	if schedule != Static {
		s.WindowTimesteps = networks.Defaults(model).WindowTimesteps
	}
	switch schedule {
	case Continual:
		s.Epochs = 3
	case Window:
		s.Epochs = 10
	}
	if model == trainer.Blend {
		s.Components = trainer.DefaultsOf(model).Components
	}
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
	p := check.Of(s.Settings.Validate())
	p.That(s.Split.Validate() == nil, "split", s.Split, "at least 1 timestep to train and to test, 0 to validate")
	p.OneOf("schedule", s.Schedule, Schedules()...)
	p.That(!s.rowModel() || s.Schedule != Continual, "schedule", s.Schedule, "%s or %s for model %q, which is fitted anew",
		Static, Window, s.Model)
	p.That(s.Model != trainer.Blend || s.Schedule != Window, "schedule", s.Schedule,
		"%s or %s for model %q, which remembers past losses", Static, Continual, s.Model)
	p.AtLeast("window_timesteps", s.WindowTimesteps, 1)
	p.Below("known_labels", s.KnownLabels, 0, 1)
	p.That(!s.Propagate || s.KnownLabels == 0 || s.Split.Validation >= 1, "split", s.Split,
		"validation timesteps, on which the settings of propagation are chosen")
	return p.Err()
}
