package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lethe/canonical"
	"lethe/internal/check"
	"lethe/internal/portable"
)

// The methods.
const (
	// Platt fits slope and intercept of the logit.
	Platt = "platt"
	// Isotonic fits the non-decreasing curve with the least squared error.
	Isotonic = "isotonic"
	// None uses the logit unchanged: 1/(1+e^-z).
	None = "none"
)

// Methods returns the names of the methods.
func Methods() []string { return []string{Platt, Isotonic, None} }

// Config configures a fit. Use Defaults.
type Config struct {
	// Method is one of Methods.
	Method string `yaml:"method" help:"How logits become probabilities: platt, isotonic or none."`
	// MinPerClass is the minimum number of rows of each class: with fewer, logits are used
	// unchanged. A curve through a handful of rows is worse than none.
	MinPerClass int `yaml:"min_per_class" help:"Labelled rows of each class below which nothing is calibrated."`
}

// Defaults uses Platt's method, which has only two parameters and does not overfit small sets.
func Defaults() Config { return Config{Method: Platt, MinPerClass: 20} }

// Validate reports every value that is out of range.
func (c Config) Validate() error {
	var p check.Problems
	p.OneOf("method", c.Method, Methods()...)
	p.Whole("min_per_class", c.MinPerClass, 1, math.MaxInt32)
	return p.Err()
}

// Append adds everything that a calibration depends on to a fingerprint.
func (c Config) Append(w *canonical.Writer) {
	w.String(c.Method)
	w.Uint32(uint32(c.MinPerClass))
}

// furthest bounds the logits in a fit: squares of larger ones would leave no precision for the
// others.
const furthest = 1e6

// Calibration converts logits to probabilities. It is read-only and safe for concurrent use.
type Calibration struct {
	method string
	// slope, greater than 0, and intercept are those of Platt's method; 1 and 0 for the others.
	slope, intercept float64
	// knots are those of the isotonic method, ascending in the logit; the others have none.
	knots []knot
}

// Method returns the applied method: None if there were too few rows for another one.
func (c *Calibration) Method() string { return c.method }

// Apply returns the probability of illicit at a logit, which must not be NaN. It is non-decreasing
// in the logit, up to rounding.
func (c *Calibration) Apply(logit float64) float64 {
	switch c.method {
	case Platt:
		return portable.Logistic(float64(c.slope*logit) + c.intercept)
	case Isotonic:
		return applyIsotonic(c.knots, logit)
	default:
		return portable.Logistic(logit)
	}
}

// row is one labelled logit.
type row struct {
	logit   float64
	illicit bool
}

// Fit learns a calibration from logits and classes, one of each per row; the result depends only on
// the set of rows. The logits should come from models that have not learned from the rows. With
// fewer than MinPerClass rows of either class the calibration is that of None.
//
// It returns an error if a value of the configuration is out of range, the lengths differ or a
// logit is not a number within ±1e6.
func Fit(logits []float64, illicit []bool, config Config) (*Calibration, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	if len(logits) != len(illicit) {
		return nil, fmt.Errorf("calibration: %d logits and %d classes", len(logits), len(illicit))
	}
	rows, ofIllicit := make([]row, len(logits)), 0
	for i, z := range logits {
		if !(z >= -furthest && z <= furthest) {
			return nil, fmt.Errorf("calibration: row %d has logit %v, want a number from %v to %v", i, z, -furthest, furthest)
		}
		rows[i] = row{z, illicit[i]}
		if z == 0 {
			// +0 and -0, whose bits differ, become the same.
			rows[i].logit = 0
		}
		if illicit[i] {
			ofIllicit++
		}
	}
	c := &Calibration{method: None, slope: 1}
	if min(ofIllicit, len(rows)-ofIllicit) < config.MinPerClass {
		return c, nil
	}
	// Rows that compare equal are identical, so their order does not matter.
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.logit, b.logit), cmp.Compare(count(a.illicit), count(b.illicit)))
	})
	switch c.method = config.Method; c.method {
	case Platt:
		c.slope, c.intercept = fitPlatt(rows, ofIllicit)
	case Isotonic:
		c.knots = fitIsotonic(rows)
	}
	return c, nil
}

// count is 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
