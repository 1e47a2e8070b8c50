package trees

import (
	"slices"

	"lethe/trainer/tabular"
)

// binned holds the rows' features as bin numbers.
type binned struct {
	rows int
	// thresholds holds, per feature, the upper bound of every bin but the last,
	// ascending. A feature with one value has none.
	thresholds [][]float32
	// offsets holds, per feature and at the end, how many bins all features
	// before it have.
	offsets []int
	// bins is column-major: the bin of every row, feature after feature.
	bins []uint8
}

// newBinned sorts every feature into at most maxBins bins that hold about the
// same number of rows. A bin's bound lies half way between two values, or on
// the lower one if nothing is in between.
func newBinned(r tabular.Rows, maxBins int) *binned {
	n := len(r.Labels)
	b := &binned{
		rows: n, thresholds: make([][]float32, r.Cols), offsets: make([]int, r.Cols+1), bins: make([]uint8, n*r.Cols),
	}
	sorted := make([]float32, n)
	for f := range r.Cols {
		for i := range sorted {
			sorted[i] = r.Features[i*r.Cols+f]
		}
		slices.Sort(sorted)
		t := boundaries(sorted, maxBins)
		b.thresholds[f] = t
		b.offsets[f+1] = b.offsets[f] + len(t) + 1
		column := b.column(f)
		for i := range column {
			// The bin is the number of bounds below the value.
			at, _ := slices.BinarySearch(t, r.Features[i*r.Cols+f])
			column[i] = uint8(at)
		}
	}
	return b
}

// column returns the bins of a feature, by row.
func (b *binned) column(f int) []uint8 { return b.bins[f*b.rows : (f+1)*b.rows] }

// part returns the histogram of a feature among those of all features.
func (b *binned) part(all histogram, f int) histogram { return all[b.offsets[f]:b.offsets[f+1]] }

// varying returns those of the features that have more than one value.
func (b *binned) varying(features []int) []int {
	return slices.DeleteFunc(features, func(f int) bool { return len(b.thresholds[f]) == 0 })
}

// boundaries returns where sorted values are cut into at most maxBins bins: at
// every change of value if there are few, else so that bins hold about the same
// number of rows.
func boundaries(sorted []float32, maxBins int) []float32 {
	distinct := 1
	for i := 1; i < len(sorted); i++ {
		if sorted[i] != sorted[i-1] {
			distinct++
		}
	}
	var bounds []float32
	cut := 0
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			continue
		}
		// What is left since the last cut is shared out among the bins that are
		// left, so that one frequent value does not starve the others.
		if distinct > maxBins && (i-cut)*(maxBins-len(bounds)) < len(sorted)-cut {
			continue
		}
		bounds = append(bounds, between(sorted[i-1], sorted[i]))
		cut = i
	}
	return bounds
}

// between returns a number from a, included, to b > a, excluded.
func between(a, b float32) float32 {
	if m := float32((float64(a) + float64(b)) / 2); m < b {
		return m
	}
	return a
}
