package kmeans

import (
	"lethe/partition/graph"
	"lethe/partition/vectors"
)

// Distances fills dst (nodes × shards) with squared distances from rows to centres, |x|² + |c|² -
// 2 x·c, which rounding may make slightly negative.
func Distances(dst []float64, e, centres *Points) {
	shards := centres.Rows()
	across := make([]float64, len(centres.Values)) // -2 c, transposed
	lengths := make([]float64, shards)
	for s := range shards {
		lengths[s] = vectors.Squared(centres.Row(s))
		for j, x := range centres.Row(s) {
			across[j*shards+s] = -2 * x
		}
	}
	for i := range e.Rows() {
		row := dst[i*shards : (i+1)*shards]
		length := vectors.Squared(e.Row(i))
		for s := range row {
			row[s] = length + lengths[s]
		}
		vectors.MultiplyRow(row, e.Row(i), across)
	}
}

// MoveCentres moves every centre to the mean of its nodes. A centre without nodes stays.
func MoveCentres(centres, e *Points, a graph.Assignment) {
	sums := make([]float64, len(centres.Values))
	sizes := make([]int, centres.Rows())
	for i, s := range a {
		sizes[s]++
		vectors.AddScaled(sums[int(s)*e.Columns:int(s+1)*e.Columns], 1, e.Row(i))
	}
	for s, size := range sizes {
		if size == 0 {
			continue
		}
		for j := range e.Columns {
			centres.Values[s*e.Columns+j] = sums[s*e.Columns+j] / float64(size)
		}
	}
}
