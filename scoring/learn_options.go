package scoring

import (
	"errors"
	"fmt"
	"math"
)

// LearnOptions are the settings of LearnWeights. The zero value of a field
// stands for its default, which is that of GraphEraser's program.
type LearnOptions struct {
	// LearningRate is Adam's, 0.001 by default.
	LearningRate float64
	// Epochs is the number of passes over the labelled rows, 50 by default.
	Epochs int
	// BatchSize is the number of rows per step, 32 by default.
	BatchSize int
	// Norm weighs the Euclidean norm of the weights in the loss, which pulls
	// them towards each other. The default 0 leaves it out, since the simplex
	// already holds 20 weights to thousands of labels; the program has 1.
	Norm float64
	// Seed keys the order of the rows.
	Seed uint64
}

// EnsureDefaults replaces zero fields by their defaults.
func (o *LearnOptions) EnsureDefaults() {
	if o.LearningRate == 0 {
		o.LearningRate = 0.001
	}
	if o.Epochs == 0 {
		o.Epochs = 50
	}
	if o.BatchSize == 0 {
		o.BatchSize = 32
	}
}

// Validate reports every field that is out of bounds.
func (o *LearnOptions) Validate() error {
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
