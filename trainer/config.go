package trainer

import (
	"slices"

	"lethe/trainer/logistic"
	"lethe/trainer/models"
	"lethe/trainer/trees"
)

// The schedules.
const (
	// Continual starts from the previous checkpoint; an erasure at timestep s replays s and all
	// later timesteps.
	Continual = "continual"
	// Window starts from fresh weights at every timestep; an erasure older
	// than the window costs nothing.
	Window = "window"
)

// The rules for class weights, each computed from one slice alone.
const (
	// AutoClasses is BalancedClasses for networks of two classes, else EqualClasses. A blend uses
	// EqualClasses: weights per class would shift the probabilities of some components and not of
	// others.
	AutoClasses = "auto"
	// BalancedClasses weighs the rows of a class by the inverse of their number, so illicit rows by
	// licit/illicit, as the paper does.
	BalancedClasses = "balanced"
	// RootClasses uses the square root of those weights.
	RootClasses = "root"
	// EqualClasses weighs every row by 1.
	EqualClasses = "equal"
)

// Config configures shard models and their training. Start from Defaults or DefaultsOf.
type Config struct {
	// Model is one of StreamModels, or of Networks.
	Model string `yaml:"model" help:"The model: elliptic-gin (a network), trees, logistic or blend."`
	// Components are the models of a Blend: distinct names of ComponentModels, or of Networks. Other
	// models ignore them.
	Components []string `yaml:"components" help:"Models of a blend; of a stack MODEL:GROUPS of each."`
	// Hidden is the width h of the hidden layer. The attention models divide it among their heads.
	// The Elliptic models use h in the first two convolutions and max(2, h/4) in the third and in
	// the next layer; larger widths were not better on streams of this size.
	Hidden int `yaml:"hidden" help:"Width of the first layers."`
	// LinearSkip adds a linear layer from the raw features to the logits of the Elliptic models,
	// which the paper does not have.
	LinearSkip bool `yaml:"linear_skip" help:"Add a linear layer on the raw features to the logits."`
	// LearningRate is Adam's step size.
	LearningRate float64 `yaml:"learning_rate" help:"Adam's step size."`
	// WeightDecay is the L2 coefficient.
	WeightDecay float64 `yaml:"weight_decay" help:"Adam's L2 coefficient."`
	// Schedule is Continual or Window. Logistic supports only Window.
	Schedule string `yaml:"schedule" help:"continual goes on from the last checkpoint, window starts afresh."`
	// WindowTimesteps is the number of latest slices in one training step of the schedule.
	WindowTimesteps int `yaml:"window_timesteps" help:"Settled timesteps that each training looks at."`
	// Passes is the number of passes over them.
	Passes int `yaml:"passes" help:"How often training goes through them."`

	// Networks are networks beyond models.Served that Model and Components may name.
	Networks models.Families `yaml:"-" json:"-"`
	// Classes is the number of classes. Label 0 of a slice is unknown and label
	// c+1 is class c.
	Classes int `yaml:"-"`
	// NetworkConfig has the settings that only some networks use.
	NetworkConfig `yaml:"-"`
	// DecoupledDecay shrinks weights directly (AdamW) instead of adding the
	// decay to the gradient (Adam).
	DecoupledDecay bool `yaml:"-"`
	// ClassWeights is AutoClasses, BalancedClasses, RootClasses or EqualClasses.
	ClassWeights string `yaml:"-"`
	// Patience ends training after that many consecutive passes that did not lower the loss; 0
	// disables it.
	Patience int `yaml:"-"`
	// Trees and Logistic configure the models of these names; their Classes and Seed are set from
	// this configuration.
	Trees    trees.Config    `yaml:"-"`
	Logistic logistic.Config `yaml:"-"`
	// Blend configures the model of this name.
	Blend BlendConfig `yaml:"-"`
	// Seed is the key of the initial weights and of every draw of training.
	Seed uint64 `yaml:"-"`
}

// NetworkConfig is the part of a Config that only some networks use; for all others its values
// are 0.
type NetworkConfig struct {
	// Widths, if not nil, are the widths of the hidden layers instead of those derived from Hidden:
	// of the three convolutions and of fc1 for the Elliptic models.
	Widths []int
	// Heads and OutputHeads are the numbers of heads of the two attention layers.
	Heads, OutputHeads int
	// Hops is the number of propagation steps.
	Hops int
	// Teleport is α of a propagation.
	Teleport float64
	// PlainGIN removes batch norm and the learned ε.
	PlainGIN bool
	models.Settings
}

// Defaults returns the configuration of the default model, EllipticGIN.
func Defaults() Config { return DefaultsOf(models.EllipticGIN) }

// DefaultsOf returns the default configuration of a model. The schedule is Continual for networks
// and blends and Window for RowModels. The window is 10 timesteps for networks and 1000,
// effectively all, for the others, because on Bitcoin-OTC every shorter one was worse.
func DefaultsOf(model string, networks ...models.Family) Config {
	c := Config{
		Networks: networks,
		Model:    model, Components: []string{models.EllipticGIN, Trees},
		Hidden: 64, LinearSkip: true, LearningRate: 0.003, WeightDecay: 1e-5,
		Schedule: Continual, WindowTimesteps: 10, Passes: 3,
		Classes: 2, ClassWeights: AutoClasses,
		Trees: treesDefaults(), Logistic: logistic.Defaults(), Blend: defaultBlend(),
	}
	c.NetworkConfig = c.networkDefaults(model)
	if keepsBody(model) {
		c.WindowTimesteps = 1000
	}
	if looksAtRows(model) {
		c.Schedule = Window
	}
	return c
}

func (c Config) networkDefaults(model string) NetworkConfig {
	f, _ := c.families().Of(model)
	a := f.Sizes
	return NetworkConfig{
		Heads: a.Heads, OutputHeads: a.OutputHeads, Hops: a.Hops, Teleport: a.Teleport, Settings: f.Settings,
	}
}

// families are all networks that the configuration may name.
func (c Config) families() models.Families { return append(models.Served(), c.Networks...) }

// network returns the network of the model, or one without properties if the model is not a network.
func (c Config) network() models.Family {
	f, _ := c.families().Of(c.Model)
	return f
}

// treesDefaults fits forests to the few hundred rows of a shard: many small trees with a fifth of
// the features each were as good on Bitcoin-OTC as half as many with 31 leaves, in a third of the
// time.
func treesDefaults() trees.Config {
	c := trees.Defaults()
	c.Rounds, c.MaxLeaves, c.FeatureShare = 200, 4, 0.2
	return c
}

// Clone returns a deep copy.
func (c Config) Clone() Config {
	c.Widths = slices.Clone(c.Widths)
	c.Components = slices.Clone(c.Components)
	return c
}

// Architecture returns the architecture for a number of features. For a model that is not a
// network it is only part of the fingerprint.
func (c Config) Architecture(features int) models.Architecture {
	widths := c.Widths
	network := c.network()
	if widths == nil && c.Model != Blend {
		widths = network.Widths(c.Hidden)
	}
	return models.Architecture{
		Model: c.Model, Features: features, Classes: c.Classes, Widths: slices.Clone(widths),
		Heads: c.Heads, OutputHeads: c.OutputHeads, Hops: c.Hops, Teleport: c.Teleport,
		LinearSkip: c.LinearSkip && network.TakesSkip, Plain: c.PlainGIN,
	}
}

// classWeights returns the rule that ClassWeights selects.
func (c Config) classWeights() string {
	switch {
	case c.ClassWeights != AutoClasses:
		return c.ClassWeights
	case c.Classes == 2 && !keepsBody(c.Model):
		return BalancedClasses
	default:
		return EqualClasses
	}
}
