package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/trainer"
)

// The ways to combine the shards' posteriors.
const (
	AggregateMean       = string(scoring.MethodMean)
	AggregateSimilarity = string(scoring.MethodSimilarity)
	AggregateLearned    = string(scoring.MethodLearned)
)

// Settings say how one ensemble is made and measured. They are the key under
// which a finished measurement is kept, so everything that reaches a figure is
// in them.
type Settings struct {
	// Model and Hidden name the shard model and its width; a width of 0 is the
	// model's own default. What networks alone have means nothing to the models
	// that look at rows (trainer.RowModels), which are for streams.
	Model  string `json:"model"`
	Hidden int    `json:"hidden,omitempty"`
	// Components are the models of trainer.Blend, which is for streams.
	Components []string `json:"components,omitempty"`
	// Epochs is the number of passes over the training data; default 200, the
	// paper's.
	Epochs int `json:"epochs"`
	// LearningRate and WeightDecay are Adam's; defaults .01 (SGC .1) and 5e-4,
	// the paper's.
	LearningRate float64 `json:"learning_rate"`
	WeightDecay  float64 `json:"weight_decay"`

	Shards    int       `json:"shards"`
	Partition Partition `json:"partition"`
	// Repair is mixup, zero, mirror, none or truth; default mixup. Tau bounds
	// mixup's factor and MinStubs is the least number of stubs per node.
	Repair   string  `json:"repair"`
	Tau      float64 `json:"tau"`
	MinStubs int     `json:"min_stubs,omitempty"`
	// OneHop joins to every row what surrounds its node, see package onehop;
	// streams only.
	OneHop bool `json:"one_hop,omitempty"`
	// OneHopDirected keeps payers and payees apart, see onehop.Directed. It needs
	// OneHop.
	OneHopDirected bool `json:"one_hop_directed,omitempty"`

	// Aggregate lists the combinations to measure, and Propagate adds each of
	// them with the known labels propagated over the graph; on a stream they are
	// those of StreamSettings.KnownLabels.
	Aggregate []string `json:"aggregate"`
	Propagate bool     `json:"propagate,omitempty"`

	// TrainFraction is the share of nodes that train; default .8.
	TrainFraction float64 `json:"train_fraction"`
	Transductive  bool    `json:"transductive,omitempty"`
	RawFeatures   bool    `json:"raw_features,omitempty"`
	// Seed draws the split and everything else.
	Seed uint64 `json:"seed"`
}

// Partition is the part of the settings that assigns nodes to shards.
type Partition struct {
	// Method is one of the partition package's; default gpfb-fast.
	Method string `json:"method"`
	// Assign ends gpfb-fast, gpfb-sr and random: "quotas" (default) or "plain",
	// the paper's.
	Assign string `json:"assign,omitempty"`
	// Embedding is what bekm clusters: EmbeddingSAGE, or one of the structure by
	// default and on streams.
	Embedding string `json:"embedding,omitempty"`
	// Refine lowers the cut by swaps afterwards.
	Refine bool    `json:"refine,omitempty"`
	Alpha  float64 `json:"alpha,omitempty"`
	Beta   float64 `json:"beta,omitempty"`
	Sweeps int     `json:"sweeps,omitempty"`
}

// EnsureDefaults returns a copy with every unset field filled in.
func (s Settings) EnsureDefaults() Settings {
	s.Aggregate, s.Components = slices.Clone(s.Aggregate), slices.Clone(s.Components)
	s.Epochs = cmp.Or(s.Epochs, 200)
	rate := 0.01
	if s.Model == "sgc" {
		rate = 0.1
	}
	s.LearningRate = cmp.Or(s.LearningRate, rate)
	s.WeightDecay = cmp.Or(s.WeightDecay, 5e-4)
	s.Shards = cmp.Or(s.Shards, 1)
	s.Partition.Method = cmp.Or(s.Partition.Method, partition.MethodGPFBFast)
	s.Repair = cmp.Or(s.Repair, repair.MixUp)
	s.Tau = cmp.Or(s.Tau, 1)
	if len(s.Aggregate) == 0 {
		s.Aggregate = []string{AggregateMean}
	}
	s.TrainFraction = cmp.Or(s.TrainFraction, 0.8)
	return s
}

// rowModel tells whether the model looks at rows and not at the graph.
func (s Settings) rowModel() bool { return slices.Contains(trainer.RowModels(), s.Model) }

// networks counts the networks that a shard trains.
func (s Settings) networks() int {
	count := 0
	for _, model := range append(slices.Clone(s.Components), s.Model) {
		if model != trainer.Blend && !slices.Contains(trainer.RowModels(), model) {
			count++
		}
	}
	return count
}

// streamsOnly tells whether the settings ask for what a graph does not have.
func (s Settings) streamsOnly() bool { return s.rowModel() || s.Model == trainer.Blend || s.OneHop }

// Validate reports everything that is wrong with the settings at once, but for
// what the partition and the trainer check themselves.
func (s Settings) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(s.Model != "", "no model is named")
	check(s.Epochs >= 1, "epochs is %d, want at least 1", s.Epochs)
	check(s.Hidden >= 0, "hidden is %d, want at least 0", s.Hidden)
	check(s.TrainFraction > 0 && s.TrainFraction <= 1, "train fraction is %g, want above 0, at most 1", s.TrainFraction)
	check(len(s.Components) == 0 || s.Model == trainer.Blend, "components are %q, want none for model %q, which is no %s",
		s.Components, s.Model, trainer.Blend)
	check(s.OneHop || !s.OneHopDirected, "directed one-hop features without one-hop features")
	check(!s.OneHop || s.Repair != repair.Truth, "one-hop features do not go with repair %s", repair.Truth)
	check(s.Partition.Embedding == "" || s.Partition.Embedding == EmbeddingSAGE,
		"embedding is %q, want %s or nothing", s.Partition.Embedding, EmbeddingSAGE)
	for _, name := range s.Aggregate {
		check(slices.Contains(scoring.Methods(), scoring.Method(name)),
			"aggregation is %q, want one of %q", name, scoring.Methods())
	}
	return errors.Join(errs...)
}
