package scoring

import (
	"errors"
	"fmt"

	"lethe"
)

// The names of the methods in configurations and flags. Mean gives every shard the same weight.
// Similarity prefers shards whose graphs resemble the scored one. Learned uses the weights of
// LearnWeights; it is not served, because weights that are learned from labels would have to be
// relearned within every erasure.
const (
	MethodMean       = "mean"
	MethodSimilarity = "similarity"
	MethodLearned    = "learned"
)

// MethodStack selects the meta-model (package meta) in place of an aggregation. It is not an
// Aggregation: it combines components instead of shards, and is part of the ensemble.
const MethodStack = "stack"

// methods registers every method: add new ones here.
func methods() []method {
	return []method{
		{MethodMean, true, func(float64) (Aggregation, error) { return byMean{}, nil }},
		{MethodSimilarity, true, newBySimilarity},
		{MethodLearned, false, func(float64) (Aggregation, error) { return byLearning{}, nil }},
	}
}

type method struct {
	name string
	// served means that predictions may be published under it.
	served bool
	// build receives the temperature of the configuration.
	build func(temperature float64) (Aggregation, error)
}

// Methods returns the names of all methods, ServedMethods of those that a service may use.
func Methods() []string { return namesOf(func(method) bool { return true }) }

// ServedMethods returns the methods under which predictions may be published.
func ServedMethods() []string { return namesOf(func(m method) bool { return m.served }) }

func namesOf(keep func(method) bool) []string {
	var out []string
	for _, m := range methods() {
		if keep(m) {
			out = append(out, m.name)
		}
	}
	return out
}

// ErrMethod marks an unknown method. The caller should correct the configuration.
var ErrMethod = errors.New("unknown aggregation method")

// Aggregation decides how the shards of an ensemble are combined for one graph. It is pure and safe
// for concurrent use.
type Aggregation interface {
	// Name identifies everything besides the shard models that determines the result, for
	// Prediction.Aggregation: "mean", or the method and its temperature as in "similarity@0.1".
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
	// Labels has the class of every row, or quality.NoClass.
	Labels []int
	// Seed keys the random draws of learning.
	Seed uint64
}

// NewAggregation returns the aggregation of a method. temperature is that of MethodSimilarity,
// positive; the others ignore it. The error wraps ErrMethod if there is no such method.
func NewAggregation(name string, temperature float64) (Aggregation, error) {
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
