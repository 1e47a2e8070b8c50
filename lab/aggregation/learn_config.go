package aggregation

import "lethe/internal/check"

// LearnConfig configures LearnWeights.
type LearnConfig struct {
	// LearningRate is Adam's.
	LearningRate float64
	// Epochs is the number of passes over the labelled rows.
	Epochs int
	// BatchSize is the number of rows per step.
	BatchSize int
	// Norm weighs the Euclidean norm of the weights in the loss, which pulls them towards each
	// other. The default 0 omits it, because the simplex already constrains 20 weights for
	// thousands of labels; the authors' program has 1.
	Norm float64
	// Seed determines the order of the rows.
	Seed uint64
}

// DefaultLearning returns the settings of GraphEraser's program, except for Norm.
func DefaultLearning(seed uint64) LearnConfig {
	return LearnConfig{LearningRate: 0.001, Epochs: 50, BatchSize: 32, Seed: seed}
}

// Validate reports every field that is out of range.
func (c LearnConfig) Validate() error {
	var p check.Problems
	p.Above("learning_rate", c.LearningRate, 0, 10)
	p.AtLeast("epochs", c.Epochs, 1)
	p.AtLeast("batch_size", c.BatchSize, 1)
	p.Number("norm", c.Norm, 0, 1000)
	return p.Err()
}
