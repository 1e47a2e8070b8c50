package protocol

import (
	"slices"

	"lethe/internal/check"
	"lethe/lab/aggregation"
	"lethe/lab/networks"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/trainer"
)

// The ways to combine the shards' posteriors.
const (
	AggregateMean       = aggregation.MethodMean
	AggregateSimilarity = aggregation.MethodSimilarity
	AggregateLearned    = aggregation.MethodLearned
	// AggregateNone names the reading without a model, which comes with Propagate on a
	// graph: the known labels alone, propagated.
	AggregateNone = "none"
)

// Settings say how one ensemble is made and measured; begin with Defaults. They are
// the key under which a finished measurement is kept, so everything that reaches a
// figure is in them, and they stay as they are written: what may be left out of the
// JSON stands for the default of the package it configures, which is put in its
// place where that package's own configuration is made of it.
type Settings struct {
	// Model and Hidden name the shard model and its width; a width of 0 is the
	// model's own default. What networks alone have means nothing to the models
	// that look at rows (trainer.RowModels), which are for streams.
	Model  string `json:"model" help:"Shard model."`
	Hidden int    `json:"hidden,omitempty" help:"Width of the model."`
	// Components are the models of trainer.Blend, which is for streams.
	Components []string `json:"components,omitempty" help:"Models of a blend, with commas."`
	// Epochs is the number of passes over the training data.
	Epochs int `json:"epochs" help:"Passes over the training data."`
	// LearningRate and WeightDecay are Adam's.
	LearningRate float64 `json:"learning_rate" help:"Adam's step size."`
	WeightDecay  float64 `json:"weight_decay" help:"Adam's L2 coefficient."`

	Shards    int       `json:"shards" help:"Number of shards."`
	Partition Partition `json:"partition"`
	// Repair is mixup, zero, mirror, none or truth. Tau bounds
	// mixup's factor and MinStubs is the least number of stubs per node.
	Repair   string  `json:"repair"`
	Tau      float64 `json:"tau"`
	MinStubs int     `json:"min_stubs,omitempty"`
	// OneHop joins to every row what surrounds its node, see package onehop;
	// streams only.
	OneHop bool `json:"one_hop,omitempty" help:"Join the mean of all neighbours' features and log degree to every row."`
	// OneHopDirected keeps payers and payees apart, see onehop.Directed. It needs
	// OneHop.
	OneHopDirected bool `json:"one_hop_directed,omitempty" help:"Keep the means of payers and of payees apart."`

	// Aggregate lists the combinations to measure, and Propagate adds each of
	// them with the known labels propagated over the graph; on a stream they are
	// those of StreamSettings.KnownLabels.
	Aggregate []string `json:"aggregate"`
	Propagate bool     `json:"propagate,omitempty" help:"Propagate the known labels over the graph when scoring."`

	// TrainFraction is the share of nodes that train.
	TrainFraction float64 `json:"train_fraction" help:"Share of the nodes that trains."`
	Transductive  bool    `json:"transductive,omitempty" help:"Let training see the test nodes without their labels."`
	// SharedTest is transductive training as GraphEraser and GUIDE have it: the
	// partition is of the training nodes, and every shard sees all test nodes. Without
	// it test nodes are dealt into shards as training nodes are.
	SharedTest  bool `json:"shared_test,omitempty" help:"Put all test nodes into every shard."`
	RawFeatures bool `json:"raw_features,omitempty" help:"Leave rows as they are instead of dividing by their sums."`
	// Seed draws the split and everything else.
	Seed uint64 `json:"seed" help:"Seed of the split and of every draw."`
}

// Partition is the part of the settings that assigns nodes to shards.
type Partition struct {
	// Method is one of the partition package's.
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

// Defaults are the paper's settings of a model on a graph that is not sharded.
func Defaults(model string) Settings {
	rate := 0.01
	if model == networks.SGC {
		rate = 0.1
	}
	return Settings{
		Model: model, Epochs: 200, LearningRate: rate, WeightDecay: 5e-4, Shards: 1,
		Partition: Partition{Method: partition.MethodGPFBFast}, Repair: repair.MixUp, Tau: 1,
		Aggregate: []string{AggregateMean}, TrainFraction: 0.8,
	}
}

// GraphMinStubs is how many stubs a node of a citation graph in shards gets at
// least, by lethe's own defaults: with a low cut most nodes have none, and stubs
// act as augmentation. Where neighbours are added up, more stubs than a node has
// neighbours in the whole graph make training unlike the test: four lowered GIN
// on CiteSeer from 72 to 58 %, one keeps most of the gain on Cora
// (docs/partition.md).
func GraphMinStubs(model string) int {
	if networks.SumsNeighbours(model) {
		return 1
	}
	return 4
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

// partitionsTest tells whether test nodes are dealt into shards.
func (s Settings) partitionsTest() bool { return s.Transductive && !s.SharedTest }

// streamsOnly tells whether the settings ask for what a graph does not have.
func (s Settings) streamsOnly() bool { return s.rowModel() || s.Model == trainer.Blend || s.OneHop }

// Validate reports everything that is wrong with the settings at once, but for
// what the partition and the trainer check themselves.
func (s Settings) Validate() error {
	var p check.Problems
	p.That(s.Model != "", "model", s.Model, "the name of one")
	p.AtLeast("epochs", s.Epochs, 1)
	p.AtLeast("hidden", s.Hidden, 0)
	p.Above("train_fraction", s.TrainFraction, 0, 1)
	p.That(len(s.Components) == 0 || s.Model == trainer.Blend, "components", s.Components,
		"none for model %q, which is no %s",
		s.Model, trainer.Blend)
	p.That(s.OneHop || !s.OneHopDirected, "one_hop_directed", s.OneHopDirected, "false without one-hop features")
	p.That(!s.OneHop || s.Repair != RepairTruth, "one_hop", s.OneHop, "false with repair %s", RepairTruth)
	p.That(s.Transductive || !s.SharedTest, "shared_test", s.SharedTest, "false where training sees no test node")
	p.That(!s.SharedTest || s.Repair != RepairTruth, "shared_test", s.SharedTest, "false with repair %s", RepairTruth)
	p.That(s.Partition.Embedding == "" || s.Partition.Embedding == EmbeddingSAGE,
		"partition.embedding", s.Partition.Embedding, "%s or nothing", EmbeddingSAGE)
	for _, name := range s.Aggregate {
		p.OneOf("aggregate", name, aggregation.Methods()...)
	}
	return p.Err()
}
