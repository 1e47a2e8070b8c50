package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
)

// The schedules.
const (
	// Continual starts from the previous checkpoint; an erasure at timestep s
	// replays s and all that follow.
	Continual = "continual"
	// Window starts from fresh weights at every timestep; an erasure older
	// than the window costs nothing.
	Window = "window"
)

// The rules for class weights, each computed from one slice alone.
const (
	// BalancedClasses weighs the rows of a class by the inverse of their number,
	// so illicit rows by licit/illicit, as the paper does.
	BalancedClasses = "balanced"
	// RootClasses takes the square root of those weights.
	RootClasses = "root"
	// EqualClasses weighs every row by 1.
	EqualClasses = "equal"
)

// EllipticGIN is the paper's GIN for the Elliptic data: three convolutions, each
// followed by batch norm and ReLU, and two linear layers.
const EllipticGIN = "elliptic-gin"

// Models returns the names that Options.Model takes.
func Models() []string { return []string{EllipticGIN} }

// maxClasses is the largest number of classes that a label can name.
const maxClasses = math.MaxUint8

// hiddenLayers is the number of widths between features and logits.
const hiddenLayers = 4

// Options configure an Engine. The zero value means the defaults, which
// EnsureDefaults fills in.
type Options struct {
	// Model is one of Models, default EllipticGIN.
	Model string
	// Classes is the number of classes, default 2. Label 0 of a slice is
	// unknown and label c+1 is class c.
	Classes int
	// Hidden is the width h of the first two convolutions; the third and the
	// layer after it have max(2, h/4). Default 64: wider was not better on
	// streams of this size. Ignored if Widths is given.
	Hidden int
	// Widths lists the widths of the three convolutions and of fc1.
	Widths []int
	// NoLinearSkip leaves out the linear layer from the raw features to the
	// logits, to follow the paper.
	NoLinearSkip bool
	// LearningRate is Adam's step size, default 0.003.
	LearningRate float64
	// WeightDecay is the L2 coefficient, default 1e-5.
	WeightDecay float64
	// NoWeightDecay sets the coefficient to 0, which WeightDecay cannot say.
	NoWeightDecay bool
	// DecoupledDecay shrinks weights directly (AdamW) instead of adding the
	// decay to the gradient (Adam).
	DecoupledDecay bool
	// ClassWeights is BalancedClasses, RootClasses or EqualClasses; the default
	// is BalancedClasses for two classes and EqualClasses for more.
	ClassWeights string
	// Schedule is Continual (default) or Window.
	Schedule string
	// WindowTimesteps is how many of the latest slices a step of the schedule
	// trains on, default 10.
	WindowTimesteps int
	// Passes is how often it goes through them, default 3.
	Passes int
	// Seed keys the initial weights.
	Seed uint64
	// Observe is told of every optimiser step, for progress lines and learning
	// curves; nil tells nobody. It cannot change a result and is no part of the
	// fingerprint. Shards that train side by side call it at the same time.
	Observe func(Progress)
}

// Clone returns a copy that shares nothing with the original.
func (o Options) Clone() Options {
	o.Widths = slices.Clone(o.Widths)
	return o
}

// EnsureDefaults returns a copy with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	o = o.Clone()
	o.Model = cmp.Or(o.Model, EllipticGIN)
	o.Classes = cmp.Or(o.Classes, 2)
	o.Hidden = cmp.Or(o.Hidden, 64)
	if o.Widths == nil {
		quarter := max(2, o.Hidden/4)
		o.Widths = []int{o.Hidden, o.Hidden, quarter, quarter}
	}
	o.LearningRate = cmp.Or(o.LearningRate, 0.003)
	o.WeightDecay = cmp.Or(o.WeightDecay, 1e-5)
	if o.NoWeightDecay {
		o.WeightDecay = 0
	}
	if o.ClassWeights == "" {
		o.ClassWeights = EqualClasses
		if o.Classes == 2 {
			o.ClassWeights = BalancedClasses
		}
	}
	o.Schedule = cmp.Or(o.Schedule, Continual)
	o.WindowTimesteps = cmp.Or(o.WindowTimesteps, 10)
	o.Passes = cmp.Or(o.Passes, 3)
	return o
}

// Validate reports every value of defaulted options that is out of bounds.
func (o Options) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(slices.Contains(Models(), o.Model), "model %q is none of %q", o.Model, Models())
	check(o.Classes >= 2 && o.Classes <= maxClasses, "classes is %d, want 2 to %d", o.Classes, maxClasses)
	check(len(o.Widths) == hiddenLayers, "widths: %d given, want %d (three convolutions and fc1)", len(o.Widths), hiddenLayers)
	for i, w := range o.Widths {
		check(w >= 1 && w <= maxWidth, "widths[%d] is %d, want 1 to %d", i, w, maxWidth)
	}
	check(o.LearningRate > 0 && o.LearningRate <= 1, "learning rate is %g, want above 0, at most 1", o.LearningRate)
	check(o.WeightDecay >= 0 && o.WeightDecay <= 1, "weight decay is %g, want 0 to 1", o.WeightDecay)
	check(slices.Contains([]string{BalancedClasses, RootClasses, EqualClasses}, o.ClassWeights),
		"class weights %q is none of %q, %q, %q", o.ClassWeights, BalancedClasses, RootClasses, EqualClasses)
	check(o.Schedule == Continual || o.Schedule == Window, "schedule %q is neither %q nor %q", o.Schedule, Continual, Window)
	check(o.WindowTimesteps >= 1, "window is %d timesteps, want at least 1", o.WindowTimesteps)
	check(o.Passes >= 1, "passes is %d, want at least 1", o.Passes)
	return errors.Join(problems...)
}

// Fingerprint is a digest of everything in the options that a checkpoint
// depends on. Unset fields count as their defaults.
func (o Options) Fingerprint() lethe.Digest {
	o = o.EnsureDefaults()
	w := canonical.NewWriter("LOPT", 1)
	w.String(o.Model)
	w.Uint32(uint32(o.Classes))
	w.Count(len(o.Widths))
	for _, width := range o.Widths {
		w.Uint32(uint32(width))
	}
	w.Uint8(flag(o.NoLinearSkip))
	w.Uint8(flag(o.DecoupledDecay))
	w.Uint64(math.Float64bits(o.LearningRate))
	w.Uint64(math.Float64bits(o.WeightDecay))
	w.String(o.ClassWeights)
	w.String(o.Schedule)
	w.Uint32(uint32(o.WindowTimesteps))
	w.Uint32(uint32(o.Passes))
	w.Uint64(o.Seed)
	return canonical.DigestOf(w.Seal())
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
