package trees

import (
	"slices"

	"lethe/trainer/tabular"
)

// binned holds the rows' features as bin numbers.
type binned struct {
	rows int
	// thresholds holds, per feature, the upper bound of every bin except the last, ascending. A
	// constant feature has none.
	thresholds [][]float32
	// missing marks the features with missing values, which have a bin after the others.
	missing []bool
	// bins is column-major: the bin of every row, feature after feature.
	bins []uint8
}

// newBinned divides every feature into at most maxBins bins with about equally many rows. A bin's
// bound is halfway between two values, or equals the lower one if no number is in between.
func newBinned(r tabular.Rows, maxBins int) *binned {
	n := len(r.Labels)
	b := &binned{
		rows: n, thresholds: make([][]float32, r.Cols), missing: make([]bool, r.Cols), bins: make([]uint8, n*r.Cols),
	}
	values, sorter := make([]float32, n), newSorter(n)
	for f := range r.Cols {
		for i := range values {
			values[i] = r.Features[i*r.Cols+f]
		}
		present := sorter.sort(values)
		b.missing[f] = len(present) < n
		most := maxBins
		if b.missing[f] {
			most--
		}
		b.thresholds[f] = boundaries(present, most)
		newLookup(b.thresholds[f]).fill(b.column(f), values)
	}
	return b
}

// column returns the bins of a feature, by row.
func (b *binned) column(f int) []uint8 { return b.bins[f*b.rows : (f+1)*b.rows] }

// count is the number of bins of a feature, including that of missing values.
func (b *binned) count(f int) int {
	if b.missing[f] {
		return len(b.thresholds[f]) + 2
	}
	return len(b.thresholds[f]) + 1
}

// varying returns the features that are not constant.
func (b *binned) varying(features []int) []int {
	return slices.DeleteFunc(features, func(f int) bool { return b.count(f) == 1 })
}

// boundaries returns the bounds of at most maxBins bins of sorted values: at every change of
// value if there are few, otherwise such that bins have about equally many rows.
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
		// The rows since the last bound are compared with an even share of the remaining rows, so that
		// one frequent value does not use up the bins of the others.
		if distinct > maxBins && (i-cut)*(maxBins-len(bounds)) < len(sorted)-cut {
			continue
		}
		bounds = append(bounds, between(sorted[i-1], sorted[i]))
		cut = i
	}
	return bounds
}

// between returns a number in [a, b), for b > a.
func between(a, b float32) float32 {
	if m := float32((float64(a) + float64(b)) / 2); m < b {
		return m
	}
	return a
}

// lanes is the number of features in a word of bins, one byte each.
const lanes = 8

// packed holds the bins of some rows and features, eight features per word, so that reading a row
// of a small leaf takes one access per eight features.
type packed struct {
	// features are the features of the lanes, ascending.
	features []int
	// words holds a block of rows per eight features.
	words [][]uint64
}

// block returns the features of a block.
func (p *packed) block(b int) []int { return p.features[b*lanes : min(len(p.features), (b+1)*lanes)] }

// pack extracts the features' bins of the given rows. It reuses the memory of p.
func (p *packed) pack(data *binned, rows []int32, features []int) {
	p.features = features
	blocks := (len(features) + lanes - 1) / lanes
	for len(p.words) < blocks {
		p.words = append(p.words, nil)
	}
	p.words = p.words[:blocks]
	for b := range p.words {
		if cap(p.words[b]) < len(rows) {
			p.words[b] = make([]uint64, len(rows))
		}
		p.words[b] = p.words[b][:len(rows)]
		var columns [lanes][]uint8
		for lane := range columns {
			// A block with fewer features repeats its last one.
			of := p.block(b)
			columns[lane] = data.column(of[min(lane, len(of)-1)])
		}
		packBlock(p.words[b], rows, &columns)
	}
}

// packBlock packs all rows, or an ascending list of rows.
func packBlock(words []uint64, rows []int32, columns *[lanes][]uint8) {
	done := 0
	if len(rows) == len(columns[0]) {
		done = packAll(words[:len(rows)], columns)
	}
	c0, c1, c2, c3 := columns[0], columns[1], columns[2], columns[3]
	c1, c2, c3 = c1[:len(c0)], c2[:len(c0)], c3[:len(c0)]
	for k := done; k < len(rows); k++ {
		i := rows[k]
		words[k] = uint64(c0[i]) | uint64(c1[i])<<8 | uint64(c2[i])<<16 | uint64(c3[i])<<24
	}
	c0, c1, c2, c3 = columns[4], columns[5], columns[6], columns[7]
	c1, c2, c3 = c1[:len(c0)], c2[:len(c0)], c3[:len(c0)]
	for k := done; k < len(rows); k++ {
		i := rows[k]
		words[k] |= uint64(c0[i])<<32 | uint64(c1[i])<<40 | uint64(c2[i])<<48 | uint64(c3[i])<<56
	}
}

// place returns a feature's block and the shift of its lane.
func place(position int) (block int, shift uint) { return position / lanes, uint(position % lanes * 8) }
