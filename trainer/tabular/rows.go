// Package tabular has the shared types of models that process one row at a time, without edges:
// labelled rows, from slices or elsewhere.
package tabular

import (
	"errors"
	"fmt"
	"math"

	"lethe"
)

var (
	// ErrInvalidRows means that rows are inconsistent, do not fit the model, or are infinite. A
	// retry with the same rows fails again.
	ErrInvalidRows = errors.New("invalid rows")

	// ErrNoRows means that there is nothing to learn from. Skip the fit and keep the previous model.
	ErrNoRows = errors.New("no rows")
)

const (
	// MaxFeatures is the largest number of features of a row.
	MaxFeatures = 1 << 16
	// MaxClasses is the largest number of classes that a slice's labels can represent.
	MaxClasses = math.MaxUint8
	// MaxTotalWeight bounds the sum of weights, so that sums of gradients in fixed point stay below
	// 2^63.
	MaxTotalWeight = 1 << 29
)

// Rows are labelled examples.
type Rows struct {
	// Cols is the number of features of a row.
	Cols int
	// Features is row-major: len(Labels) rows of Cols, finite or lethe.Missing.
	Features []float32
	// Labels holds a class per row, from 0.
	Labels []int32
	// Weights holds each row's weight in the loss; nil means 1 each.
	Weights []float32
	// Keys holds a key for each row's draws, so that removing one row changes no other row's draw;
	// nil lets the model derive them from the rows' values. Rows with equal keys share their draws.
	Keys []uint64
}

// FromSlices returns the labelled nodes of slices, in their order, without edges and stubs. Label
// c+1 of a slice is class c. Keys are derived from pseudonym and timestep.
func FromSlices(window []*lethe.Slice) Rows {
	n, cols := 0, 0
	for _, s := range window {
		n, cols = n+s.Labelled(), s.FeatureCount
	}
	r := Rows{
		Cols: cols, Features: make([]float32, 0, n*cols), Labels: make([]int32, 0, n), Keys: make([]uint64, 0, n),
	}
	base := lethe.NewDraw(0, "tabular-row")
	for _, s := range window {
		for i, label := range s.Labels {
			if label != lethe.Unknown {
				r.Features = append(r.Features, s.Row(i)...)
				r.Labels = append(r.Labels, int32(label)-1)
				hi, lo := s.Nodes[i].Coordinates()
				key := base.At(hi).At(lo).At(uint64(s.Timestep))
				r.Keys = append(r.Keys, key.Uint64())
			}
		}
	}
	return r
}

// Labelled returns the labelled nodes of a union of slices as a slice of its own, without edges and stubs: FromSlices
// gives the same rows of it, and its digest, which follows from the union's parts, is the same.
func Labelled(union *lethe.Slice) *lethe.Slice {
	out := &lethe.Slice{
		Timestep: union.Timestep, Previous: union.Previous, Shard: union.Shard, FeatureCount: union.FeatureCount,
		Parts: union.Parts,
	}
	out.Features = make([]float32, 0, union.Labelled()*union.FeatureCount)
	for i, label := range union.Labels {
		if label != lethe.Unknown {
			out.Nodes, out.Labels = append(out.Nodes, union.Nodes[i]), append(out.Labels, label)
			out.Features = append(out.Features, union.Row(i)...)
		}
	}
	return out
}

// Len returns the number of rows.
func (r Rows) Len() int { return len(r.Labels) }

// Row returns the features of row i. It aliases the rows.
func (r Rows) Row(i int) []float32 { return r.Features[i*r.Cols : (i+1)*r.Cols] }

// Weight returns the weight of row i.
func (r Rows) Weight(i int) float64 {
	if r.Weights == nil {
		return 1
	}
	return float64(r.Weights[i])
}

// Check returns an error that wraps ErrInvalidRows or ErrNoRows unless a model with the given
// number of classes can be fitted to the rows.
func (r Rows) Check(classes int) error {
	n := len(r.Labels)
	switch {
	case n == 0:
		return ErrNoRows
	case r.Cols < 1 || r.Cols > MaxFeatures:
		return fmt.Errorf("%w: %d features, want 1 to %d", ErrInvalidRows, r.Cols, MaxFeatures)
	case len(r.Features) != n*r.Cols:
		return fmt.Errorf("%w: %d feature values, want %d", ErrInvalidRows, len(r.Features), n*r.Cols)
	case r.Weights != nil && len(r.Weights) != n:
		return fmt.Errorf("%w: %d weights, want %d", ErrInvalidRows, len(r.Weights), n)
	case r.Keys != nil && len(r.Keys) != n:
		return fmt.Errorf("%w: %d keys, want %d", ErrInvalidRows, len(r.Keys), n)
	}
	for i, v := range r.Features {
		if v-v != 0 && !lethe.IsMissing(v) {
			return fmt.Errorf("%w: feature %d of row %d is infinite", ErrInvalidRows, i%r.Cols, i/r.Cols)
		}
	}
	return r.checkLabels(classes)
}

// checkLabels is the part of Check for classes and weights.
func (r Rows) checkLabels(classes int) error {
	total := 0.0
	for i, class := range r.Labels {
		if class < 0 || int(class) >= classes {
			return fmt.Errorf("%w: row %d has class %d, want 0 to %d", ErrInvalidRows, i, class, classes-1)
		}
		w := r.Weight(i)
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("%w: row %d has weight %g, want a number from 0", ErrInvalidRows, i, w)
		}
		total += w
	}
	switch {
	case total == 0:
		return ErrNoRows
	case total > MaxTotalWeight:
		return fmt.Errorf("%w: weights add up to %g, want at most %d", ErrInvalidRows, total, MaxTotalWeight)
	}
	return nil
}
