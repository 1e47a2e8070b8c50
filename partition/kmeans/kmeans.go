package kmeans

import (
	"context"
	"math"
	"slices"

	"lethe/partition/graph"
	"lethe/partition/vectors"

	"lethe"
)

const (
	// plainStarts and plainSweeps are the values of the published code.
	plainStarts = 10
	plainSweeps = 50
)

// Cluster is Lloyd's algorithm without quotas. Of several starts it returns the result with the
// smallest sum of squared distances, the first in a tie.
func Cluster(ctx context.Context, e *Points, shards int, seed uint64) (graph.Assignment, error) {
	distance := make([]float64, e.Rows()*shards)
	var best graph.Assignment
	least := math.Inf(1)
	for start := range uint64(plainStarts) {
		centres := StartCentres(e, shards, seed, start)
		var a graph.Assignment
		var sum float64
		for range plainSweeps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			Distances(distance, e, centres)
			var next graph.Assignment
			next, sum = Nearest(distance, shards)
			if slices.Equal(a, next) {
				break
			}
			a = next
			MoveCentres(centres, e, a)
		}
		if best == nil || sum < least {
			best, least = a, sum
		}
	}
	return best, nil
}

// Nearest assigns every node to the nearest centre, the lowest in a tie, and returns the sum of
// the distances.
func Nearest(distance []float64, shards int) (graph.Assignment, float64) {
	a := make(graph.Assignment, len(distance)/shards)
	sum := 0.0
	for i := range a {
		row := distance[i*shards : (i+1)*shards]
		best := 0
		for s, d := range row {
			if d < row[best] {
				best = s
			}
		}
		a[i] = lethe.ShardID(best)
		sum += row[best]
	}
	return a, sum
}

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
