package scoring

import (
	"errors"
	"fmt"
	"math"
)

// LearnConfig shapes LearnWeights.
type LearnConfig struct {
	// LearningRate is Adam's.
	LearningRate float64
	// Epochs is the number of passes over the labelled rows.
	Epochs int
	// BatchSize is the number of rows per step.
	BatchSize int
	// Norm weighs the Euclidean norm of the weights in the loss, which pulls
	// them towards each other. The default 0 leaves it out, since the simplex
	// already holds 20 weights to thousands of labels; the program has 1.
	Norm float64
	// Seed keys the order of the rows.
	Seed uint64
}

// DefaultLearning is that of GraphEraser's program, but for Norm.
func DefaultLearning(seed uint64) LearnConfig {
	return LearnConfig{LearningRate: 0.001, Epochs: 50, BatchSize: 32, Seed: seed}
}

// Validate reports every field that is out of bounds.
func (o LearnConfig) Validate() error {
	var errs []error
	if !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 1) {
		errs = append(errs, fmt.Errorf("learning rate of the weights is %v, want a positive number", o.LearningRate))
	}
	if !(o.Norm >= 0) || math.IsInf(o.Norm, 1) {
		errs = append(errs, fmt.Errorf("norm of the weights is %v, want a number of at least 0", o.Norm))
	}
	if o.Epochs < 1 {
		errs = append(errs, fmt.Errorf("epochs of the weights is %d, want at least 1", o.Epochs))
	}
	if o.BatchSize < 1 {
		errs = append(errs, fmt.Errorf("batch size of the weights is %d, want at least 1", o.BatchSize))
	}
	return errors.Join(errs...)
}
