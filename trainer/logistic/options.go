package logistic

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"lethe/canonical"
	"lethe/trainer/tabular"
)

// Options configure a fit. The zero value means the defaults, which
// EnsureDefaults fills in.
type Options struct {
	// Classes is the number of classes, default 2.
	Classes int
	// L2 is the coefficient of ½|w|² beside the sum of the rows' weighted losses.
	// Intercepts are not penalised. Default 1.
	L2 float64
	// Iterations bounds the steps of the solver, default 200.
	Iterations int
	// Tolerance ends it once no component of the mean loss's gradient exceeds
	// it. Default 1e-6.
	Tolerance float64
}

// EnsureDefaults returns a copy with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	o.Classes = cmp.Or(o.Classes, 2)
	o.L2 = cmp.Or(o.L2, 1)
	o.Iterations = cmp.Or(o.Iterations, 200)
	o.Tolerance = cmp.Or(o.Tolerance, 1e-6)
	return o
}

// Validate reports every value of defaulted options that is out of bounds.
func (o Options) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(o.Classes >= 2 && o.Classes <= tabular.MaxClasses, "classes is %d, want 2 to %d", o.Classes, tabular.MaxClasses)
	check(o.L2 > 0 && o.L2 <= math.MaxFloat32, "l2 is %g, want above 0, at most %g", o.L2, math.MaxFloat32)
	check(o.Iterations >= 1, "iterations is %d, want at least 1", o.Iterations)
	check(o.Tolerance > 0 && o.Tolerance < 1, "tolerance is %g, want above 0, below 1", o.Tolerance)
	return errors.Join(problems...)
}

// Append adds everything that a model depends on to a fingerprint. Unset fields
// count as their defaults.
func (o Options) Append(w *canonical.Writer) {
	o = o.EnsureDefaults()
	w.Uint32(uint32(o.Classes))
	w.Uint32(uint32(o.Iterations))
	w.Uint64(math.Float64bits(o.L2))
	w.Uint64(math.Float64bits(o.Tolerance))
}
