package logistic

import (
	"math"

	"lethe/canonical"
	"lethe/internal/check"
	"lethe/trainer/tabular"
)

// Config configures a fit.
type Config struct {
	// Classes is the number of classes.
	Classes int `yaml:"-"`
	// L2 is the coefficient of ½|w|², which is added to the sum of the rows' weighted losses.
	// Intercepts are not penalised.
	L2 float64 `yaml:"-"`
	// Iterations bounds the steps of the solver.
	Iterations int `yaml:"-"`
	// Tolerance ends the fit once no component of the mean loss's gradient exceeds it.
	Tolerance float64 `yaml:"-"`
}

// Defaults returns the configuration for two classes.
func Defaults() Config { return Config{Classes: 2, L2: 1, Iterations: 200, Tolerance: 1e-6} }

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("classes", c.Classes, 2, tabular.MaxClasses)
	p.Above("l2", c.L2, 0, 1e6)
	p.AtLeast("iterations", c.Iterations, 1)
	p.That(c.Tolerance > 0 && c.Tolerance < 1, "tolerance", c.Tolerance, "more than 0, less than 1")
	return p.Err()
}

// Append adds every setting that a model depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	w.Uint32(uint32(c.Classes))
	w.Uint32(uint32(c.Iterations))
	w.Uint64(math.Float64bits(c.L2))
	w.Uint64(math.Float64bits(c.Tolerance))
}
