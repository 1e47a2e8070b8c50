package stack

import (
	"fmt"
	"math"
	"slices"

	"lethe/canonical"
	"lethe/internal/check"
	"lethe/scoring/internal/regression"
)

// Config configures a fit. Use Defaults.
type Config struct {
	// L2 is the coefficient of ½ Σ (w_k - 1/K)² relative to the sum of the rows' losses: 1/C of
	// scikit-learn's LogisticRegression, with another centre.
	L2 float64 `yaml:"l2" help:"Pull of the components' weights towards equal ones; 1/C of scikit-learn."`
	// InterceptL2 is the same for the intercept, with centre 0. At 0 it is not penalised.
	InterceptL2 float64 `yaml:"-"`
}

// Defaults regularises like scikit-learn's C = 0.05. An intercept of 1 costs half a nat: hundreds
// of rows move it freely, a handful of them do not.
func Defaults() Config { return Config{L2: 20, InterceptL2: 1} }

// Validate reports every value that is out of range.
func (c Config) Validate() error {
	var p check.Problems
	p.Above("l2", c.L2, 0, 1e9)
	p.Number("intercept_l2", c.InterceptL2, 0, 1e9)
	return p.Err()
}

// Append adds everything that a combination depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	w.Uint64(math.Float64bits(c.L2))
	w.Uint64(math.Float64bits(c.InterceptL2))
}

// Fit learns a combination from the rows; the result depends only on their set. With rows of one
// class only, or one component, nothing can be weighed, and the result is the mean logit.
//
// It returns an error if a value of the configuration is out of range, lengths do not match or a
// logit is NaN.
func Fit(rows Rows, config Config) (*Combination, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	if err := rows.check(); err != nil {
		return nil, fmt.Errorf("stack: %w", err)
	}
	c := mean(rows.Components)
	inputs, targets := rows.sorted()
	if rows.Components == 1 || len(targets) == 0 || targets[0] == targets[len(targets)-1] {
		return c, nil
	}
	c.coefficients, c.intercept = regression.Minimise(regression.Problem{
		Inputs: inputs, Targets: targets, Centre: c.coefficients, Lowest: make([]float64, rows.Components),
		L2: config.L2, InterceptL2: config.InterceptL2,
	})
	return c, nil
}

// mean is the mean logit of the components.
func mean(components int) *Combination {
	return &Combination{coefficients: slices.Repeat([]float64{1 / float64(components)}, components)}
}
