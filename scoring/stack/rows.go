package stack

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxComponents bounds the number of components.
const MaxComponents = 64

// Rows are labelled transactions with every component's logit.
type Rows struct {
	// Components is K, from 1 to MaxComponents.
	Components int
	// Logits has K per row, row-major. They are clipped to ±16.1, the logits of the probabilities
	// 1e-7 and 1 - 1e-7.
	Logits []float64
	// Illicit has the class of every row.
	Illicit []bool
}

// check reports the first invalid value. Errors identify rows by their index, because the rows are
// personal data.
func (r Rows) check() error {
	switch {
	case r.Components < 1 || r.Components > MaxComponents:
		return fmt.Errorf("%d components, want 1 to %d", r.Components, MaxComponents)
	case len(r.Logits) != len(r.Illicit)*r.Components:
		return fmt.Errorf("%d logits, want %d for %d rows of %d components",
			len(r.Logits), len(r.Illicit)*r.Components, len(r.Illicit), r.Components)
	}
	for i, z := range r.Logits {
		if z != z {
			return fmt.Errorf("row %d has a logit of component %d that is not a number", i/r.Components, i%r.Components)
		}
	}
	return nil
}

// sorted returns the logits, bounded, and the classes as 0 and 1, with rows in the order of their
// content: licit before illicit, then by logits. Rows that compare equal are identical, so the
// result depends only on the set of rows.
func (r Rows) sorted() (inputs, targets []float64) {
	unsorted := make([]float64, len(r.Logits))
	for i, z := range r.Logits {
		unsorted[i] = bounded(z)
	}
	order := make([]int, len(r.Illicit))
	for i := range order {
		order[i] = i
	}
	row := func(i int) []float64 { return unsorted[i*r.Components : (i+1)*r.Components] }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(target(r.Illicit[a]), target(r.Illicit[b])), slices.Compare(row(a), row(b)))
	})
	inputs, targets = make([]float64, 0, len(unsorted)), make([]float64, 0, len(order))
	for _, i := range order {
		inputs = append(inputs, row(i)...)
		targets = append(targets, target(r.Illicit[i]))
	}
	return inputs, targets
}

func target(illicit bool) float64 {
	if illicit {
		return 1
	}
	return 0
}
