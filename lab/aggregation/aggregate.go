// Package aggregation weighs the shards of an ensemble in the ways of the paper, which the service, with
// the mean or a meta-model, does without.
//
//   - aggregate.go: the aggregations and their registry
//   - aggregate_similarity.go: weights by the similarity of a shard's graph to the
//     scored one (Wang, Huai and Wang, "Inductive Graph Unlearning", USENIX
//     Security 2023)
//   - learn.go, learn_config.go: weights learned from labels
//   - combine.go: the result of an aggregation; the weighted sum of posteriors
package aggregation

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/scoring"
)

// The names of the methods in flags. Mean gives every shard the same weight. Similarity prefers shards
// whose graphs resemble the scored one. Learned uses the weights of LearnWeights.
const (
	MethodMean       = scoring.MethodMean
	MethodSimilarity = "similarity"
	MethodLearned    = "learned"
)

// DefaultTemperature sharpens the weights of similarity.
//
// Normalised similarities of the shards of one timestep are close together: on Bitcoin-OTC in
// 20 shards their standard deviation is about 0.035. A softmax at temperature 1, as in the
// authors' notebook, then differs by some 15 % between the best and the worst shard, which is
// almost the mean. At 0.1 the best weighs 3 to 7 times the worst, and the weights still
// average like 16 to 18 equal ones (1/Σw²). At 0.02 two to seven shards dominate, and the
// benefit of many models is lost.
const DefaultTemperature = 0.1

// methods registers every method: add new ones here.
func methods() []method {
	return []method{
		{MethodMean, func(float64) (Aggregation, error) { return byMean{}, nil }},
		{MethodSimilarity, newBySimilarity},
		{MethodLearned, func(float64) (Aggregation, error) { return byLearning{}, nil }},
	}
}

type method struct {
	name string
	// build receives the temperature.
	build func(temperature float64) (Aggregation, error)
}

// Methods returns the names of all methods.
func Methods() []string {
	var out []string
	for _, m := range methods() {
		out = append(out, m.name)
	}
	return out
}

// ErrMethod marks an unknown method. The caller should correct the configuration.
var ErrMethod = errors.New("unknown aggregation method")

// Aggregation decides how the shards of an ensemble are combined for one graph. It is pure and safe
// for concurrent use.
type Aggregation interface {
	// Name identifies everything besides the shard models that determines the result: "mean", or the
	// method and its temperature as in "similarity@0.1".
	Name() string
	// Combiner returns what combines the shards' posteriors, based on the evidence: Weights, or
	// another rule.
	Combiner(Evidence) (Combiner, error)
}

// Evidence is the input of an aggregation. Expensive parts are functions, which are called only if
// needed.
type Evidence struct {
	Shards int
	// Nodes and Edges are the scored graph, without direction.
	Nodes int
	Edges []lethe.Edge
	// Vectors returns the result of Describe for every shard's newest slice.
	Vectors func() ([][]byte, error)
	// Labelled returns labelled rows to learn from. It is nil if there are none.
	Labelled func() (Labelled, error)
}

// Labelled are rows whose class is known.
type Labelled struct {
	// Posteriors has one entry per shard: rows × Classes, row-major.
	Posteriors [][]float32
	Classes    int
	// Labels has the class of every row, or measures.NoClass.
	Labels []int
	// Seed keys the random draws of learning.
	Seed uint64
}

// New returns the aggregation of a method. temperature is that of MethodSimilarity,
// positive; the others ignore it. The error wraps ErrMethod if there is no such method.
func New(name string, temperature float64) (Aggregation, error) {
	for _, m := range methods() {
		if m.name == name {
			return m.build(temperature)
		}
	}
	return nil, fmt.Errorf("%w %q, want one of %q", ErrMethod, name, Methods())
}

// byMean gives every shard the same weight.
type byMean struct{}

// Name implements Aggregation.
func (byMean) Name() string { return MethodMean }

// Combiner implements Aggregation.
func (byMean) Combiner(e Evidence) (Combiner, error) {
	weights := make(Weights, e.Shards)
	for i := range weights {
		weights[i] = 1 / float64(len(weights))
	}
	return weights, nil
}

// byLearning uses the weights of LearnWeights on the labelled rows. Without labelled rows all
// shards have the same weight.
type byLearning struct{}

// Name implements Aggregation.
func (byLearning) Name() string { return MethodLearned }

// Combiner implements Aggregation.
func (byLearning) Combiner(e Evidence) (Combiner, error) {
	if e.Labelled == nil {
		return byMean{}.Combiner(e)
	}
	rows, err := e.Labelled()
	if err != nil {
		return nil, err
	}
	return LearnWeights(rows.Posteriors, rows.Classes, rows.Labels, DefaultLearning(rows.Seed))
}
