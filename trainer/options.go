package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/layers"
	"lethe/trainer/logistic"
	"lethe/trainer/models"
	"lethe/trainer/trees"
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

// Models returns the names of the networks that Options.Model takes; see
// models.Architecture for what they are.
func Models() []string { return models.Names() }

// Options configure an Engine. The zero value means the defaults, which
// EnsureDefaults fills in.
type Options struct {
	// Model is one of Models or RowModels, or Blend. Default EllipticGIN.
	Model string
	// Classes is the number of classes, default 2. Label 0 of a slice is
	// unknown and label c+1 is class c.
	Classes int
	// Hidden is the width h of the hidden layer, default 64. The attention models
	// divide it among their heads. The Elliptic models have h in the first two
	// convolutions and max(2, h/4) in the third and in the layer after it; wider
	// was not better on streams of this size. Ignored if Widths is given.
	Hidden int
	// Widths lists the widths of the hidden layers: of the three convolutions and
	// of fc1 for the Elliptic models.
	Widths []int
	// Heads and OutputHeads are those of the two attention layers, default 8 and
	// 1 (SuperGAT 8 and 8).
	Heads, OutputHeads int
	// Hops is the number of propagation steps, default 10 for APPNP, 2 for SGC.
	Hops int
	// Teleport is α of APPNP, default 0.1.
	Teleport float64
	// PlainGIN takes batch norm and the learned ε out of gin.
	PlainGIN bool
	// Dropout is the probability that a value in front of a layer, or an
	// attention weight, is dropped: default 0.6 for the attention models, 0.5
	// for APPNP, else 0. GIN, SGC and the Elliptic models have none.
	Dropout float64
	// NoDropout sets the probability to 0, which Dropout cannot say.
	NoDropout bool
	// AttentionLoss is the weight of SuperGAT's attention loss, default 4.
	AttentionLoss float64
	// EdgeRatio is the share of edges that the loss samples, default 0.8, and
	// NegativeRatio the number of pairs without an edge per sampled edge,
	// default 0.5.
	EdgeRatio, NegativeRatio float64
	// NoLinearSkip leaves out the linear layer from the raw features to the
	// logits of the Elliptic models, to follow the paper.
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
	// is BalancedClasses for networks of two classes, else EqualClasses.
	ClassWeights string
	// Schedule is Continual, the default of networks, or Window, that of
	// RowModels. Logistic knows no other.
	Schedule string
	// WindowTimesteps is how many of the latest slices a step of the schedule
	// trains on: by default 10 for networks and 1000, which is to say all, for
	// RowModels, since on Bitcoin-OTC every shorter window was worse.
	WindowTimesteps int
	// Passes is how often it goes through them, default 3.
	Passes int
	// Patience ends training after that many passes in a row that did not lower
	// the loss. Default 0: never.
	Patience int
	// Trees and Logistic shape the models of these names; their Classes and Seed
	// are set from here. By default there are 200 rounds of trees of 4 leaves,
	// each with a fifth of the features.
	Trees    trees.Options
	Logistic logistic.Options
	// Blend shapes the model of this name.
	Blend BlendOptions
	// Seed keys the initial weights and every draw of training.
	Seed uint64
	// Observe is told of every optimiser step, for progress lines and learning
	// curves; nil tells nobody. It cannot change a result and is no part of the
	// fingerprint. Shards that train side by side call it at the same time.
	Observe func(Progress)
}

// Clone returns a copy that shares nothing with the original.
func (o Options) Clone() Options {
	o.Widths = slices.Clone(o.Widths)
	o.Blend.Components = slices.Clone(o.Blend.Components)
	return o
}

// EnsureDefaults returns a copy with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	o = o.Clone()
	o.Model = cmp.Or(o.Model, models.EllipticGIN)
	o.Classes = cmp.Or(o.Classes, 2)
	o.Hidden = cmp.Or(o.Hidden, 64)
	if o.Model == Blend {
		return o.blendDefaults()
	}
	a := models.DefaultArchitecture(o.Model, o.Hidden)
	if o.Widths == nil {
		o.Widths = a.Widths
	}
	o.Heads, o.OutputHeads = cmp.Or(o.Heads, a.Heads), cmp.Or(o.OutputHeads, a.OutputHeads)
	o.Hops, o.Teleport = cmp.Or(o.Hops, a.Hops), cmp.Or(o.Teleport, a.Teleport)
	o.Dropout = cmp.Or(o.Dropout, models.DefaultDropout(o.Model))
	if o.NoDropout {
		o.Dropout = 0
	}
	if o.Model == models.SuperGAT {
		o.AttentionLoss = cmp.Or(o.AttentionLoss, 4)
		o.EdgeRatio, o.NegativeRatio = cmp.Or(o.EdgeRatio, 0.8), cmp.Or(o.NegativeRatio, 0.5)
	}
	o.LearningRate = cmp.Or(o.LearningRate, 0.003)
	o.WeightDecay = cmp.Or(o.WeightDecay, 1e-5)
	if o.NoWeightDecay {
		o.WeightDecay = 0
	}
	if o.ClassWeights == "" {
		o.ClassWeights = EqualClasses
		if o.Classes == 2 && !looksAtRows(o.Model) {
			o.ClassWeights = BalancedClasses
		}
	}
	if looksAtRows(o.Model) {
		o.Schedule, o.WindowTimesteps = cmp.Or(o.Schedule, Window), cmp.Or(o.WindowTimesteps, 1000)
		o.Trees, o.Logistic = treesDefaults(o.Trees).EnsureDefaults(), o.Logistic.EnsureDefaults()
	}
	o.Schedule = cmp.Or(o.Schedule, Continual)
	o.WindowTimesteps = cmp.Or(o.WindowTimesteps, 10)
	o.Passes = cmp.Or(o.Passes, 3)
	return o
}

// treesDefaults fits forests to the rows of a shard, which are some hundreds:
// many small trees that see a fifth of the features each were as good on
// Bitcoin-OTC as half as many of 31 leaves, in a third of the time.
func treesDefaults(o trees.Options) trees.Options {
	o.Rounds, o.MaxLeaves = cmp.Or(o.Rounds, 200), cmp.Or(o.MaxLeaves, 4)
	o.FeatureShare = cmp.Or(o.FeatureShare, 0.2)
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
	if o.Model == Blend {
		return o.validateBlend()
	}
	if looksAtRows(o.Model) {
		problems = append(problems, o.Trees.Validate(), o.Logistic.Validate())
		check(o.Schedule != Continual || o.Model == Trees, "schedule is %q, want %q for model %q, which is fitted anew at every timestep", o.Schedule, Window, o.Model)
		check(o.Classes >= 2 && o.Classes <= models.MaxClasses, "classes is %d, want 2 to %d", o.Classes, models.MaxClasses)
	} else if err := o.Architecture(1).Validate(); err != nil {
		// Features are known only when a slice comes.
		problems = append(problems, err)
	}
	check(o.Dropout >= 0 && o.Dropout < 1, "dropout is %g, want 0 or more, below 1", o.Dropout)
	check(o.Dropout == 0 || looksAtRows(o.Model) || models.TakesDropout(o.Model), "dropout is %g, but %q has none", o.Dropout, o.Model)
	check(o.AttentionLoss >= 0 && o.AttentionLoss <= 1e3, "attention loss is %g, want 0 to 1000", o.AttentionLoss)
	check(o.EdgeRatio >= 0 && o.EdgeRatio <= 1, "edge ratio is %g, want 0 to 1", o.EdgeRatio)
	check(o.NegativeRatio >= 0 && o.NegativeRatio <= 100, "negative ratio is %g, want 0 to 100", o.NegativeRatio)
	check(o.Patience >= 0, "patience is %d passes, want 0 or more", o.Patience)
	check(o.LearningRate > 0 && o.LearningRate <= 1, "learning rate is %g, want above 0, at most 1", o.LearningRate)
	check(o.WeightDecay >= 0 && o.WeightDecay <= 1, "weight decay is %g, want 0 to 1", o.WeightDecay)
	check(slices.Contains([]string{BalancedClasses, RootClasses, EqualClasses}, o.ClassWeights),
		"class weights %q is none of %q, %q, %q", o.ClassWeights, BalancedClasses, RootClasses, EqualClasses)
	check(o.Schedule == Continual || o.Schedule == Window, "schedule %q is neither %q nor %q", o.Schedule, Continual, Window)
	check(o.WindowTimesteps >= 1, "window is %d timesteps, want at least 1", o.WindowTimesteps)
	check(o.Passes >= 1, "passes is %d, want at least 1", o.Passes)
	return errors.Join(problems...)
}

// Architecture returns the architecture for a number of features. Unset fields
// count as their defaults.
func (o Options) Architecture(features int) models.Architecture {
	o = o.EnsureDefaults()
	return models.Architecture{
		Model: o.Model, Features: features, Classes: o.Classes, Widths: o.Widths,
		Heads: o.Heads, OutputHeads: o.OutputHeads, Hops: o.Hops, Teleport: o.Teleport,
		LinearSkip: !o.NoLinearSkip && models.TakesSkip(o.Model), Plain: o.PlainGIN,
	}
}

// settings returns what training depends on besides the architecture.
func (o Options) settings() models.Settings {
	return models.Settings{Dropout: o.Dropout, Attention: layers.SelfSupervision{
		Weight: o.AttentionLoss, EdgeRatio: o.EdgeRatio, NegativeRatio: o.NegativeRatio,
	}}
}

// Fingerprint is a digest of everything in the options that a checkpoint
// depends on. Unset fields count as their defaults.
func (o Options) Fingerprint() lethe.Digest {
	o = o.EnsureDefaults()
	w := canonical.NewDigester("LOPT", 2)
	writeArchitecture(w, o.Architecture(0))
	for _, v := range []float64{o.Dropout, o.AttentionLoss, o.EdgeRatio, o.NegativeRatio} {
		w.Uint64(math.Float64bits(v))
	}
	w.Uint8(flag(o.DecoupledDecay))
	w.Uint64(math.Float64bits(o.LearningRate))
	w.Uint64(math.Float64bits(o.WeightDecay))
	w.String(o.ClassWeights)
	w.String(o.Schedule)
	w.Uint32(uint32(o.WindowTimesteps))
	w.Uint32(uint32(o.Passes))
	w.Uint32(uint32(o.Patience))
	w.Uint64(o.Seed)
	switch o.Model {
	case Trees:
		o.Trees.Append(w)
	case Logistic:
		o.Logistic.Append(w)
	case Blend:
		w.Uint64(math.Float64bits(o.Blend.Rate))
		for _, c := range o.components() {
			digest := c.Fingerprint()
			w.Bytes(digest[:])
		}
	}
	return w.Digest()
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
