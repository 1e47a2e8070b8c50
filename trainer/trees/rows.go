package trees

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrInvalidRows means that rows contradict themselves or the model, or are
	// not finite. Training or scoring again with the same ones fails again.
	ErrInvalidRows = errors.New("invalid rows")

	// ErrNoRows means that there is nothing to learn from. Skip the fit and
	// keep the model before it.
	ErrNoRows = errors.New("no rows")
)

const (
	maxFeatures = 1 << 16
	// maxTotalWeight keeps sums of gradients in fixed point below 2^63.
	maxTotalWeight = 1 << 29
)

// Rows are labelled examples.
type Rows struct {
	// Cols is the number of features of a row.
	Cols int
	// Features is row-major: len(Labels) rows of Cols.
	Features []float32
	// Labels holds a class per row, from 0.
	Labels []int32
	// Weights holds what each row counts for in the loss; nil means 1 each.
	Weights []float32
}

// weight returns what row i counts for.
func (r Rows) weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return float64(r.Weights[i])
}

func (r Rows) check(classes int) error {
	n := len(r.Labels)
	switch {
	case r.Cols < 1 || r.Cols > maxFeatures:
		return fmt.Errorf("%w: %d features, want 1 to %d", ErrInvalidRows, r.Cols, maxFeatures)
	case len(r.Features) != n*r.Cols:
		return fmt.Errorf("%w: %d feature values, want %d", ErrInvalidRows, len(r.Features), n*r.Cols)
	case r.Weights != nil && len(r.Weights) != n:
		return fmt.Errorf("%w: %d weights, want %d", ErrInvalidRows, len(r.Weights), n)
	case n == 0:
		return ErrNoRows
	}
	for i, v := range r.Features {
		if v-v != 0 {
			return fmt.Errorf("%w: feature %d of row %d is not finite", ErrInvalidRows, i%r.Cols, i/r.Cols)
		}
	}
	total := 0.0
	for i, class := range r.Labels {
		if class < 0 || int(class) >= classes {
			return fmt.Errorf("%w: row %d has class %d, want 0 to %d", ErrInvalidRows, i, class, classes-1)
		}
		w := r.weight(i)
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("%w: row %d has weight %g, want a number from 0", ErrInvalidRows, i, w)
		}
		total += w
	}
	if total == 0 {
		return ErrNoRows
	}
	if total > maxTotalWeight {
		return fmt.Errorf("%w: weights add up to %g, want at most %d", ErrInvalidRows, total, maxTotalWeight)
	}
	return nil
}
