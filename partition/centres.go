package partition

import (
	"context"
	"math"
	"slices"

	"lethe"
)

const (
	// lloydSweeps bounds the rounds of assigning nodes under quotas and moving
	// centres. The assignment settles after about ten; later rounds move a
	// handful of nodes.
	lloydSweeps = 12
	// plainStarts and plainSweeps are those of the published code.
	plainStarts = 10
	plainSweeps = 50
)

// fillQuotas rounds an embedding to shards: k-means from the centres given, in
// which the assignment fills the quotas. It moves the centres. A round costs
// O(n v d + n log n) for d columns.
func fillQuotas(ctx context.Context, g *Graph, e *Embedding, q *quotas, centres *Embedding) (Assignment, error) {
	distance := make([]float64, g.N()*q.shards)
	var a Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		distances(distance, e, centres)
		next := assignByRegret(g, distance, q)
		if slices.Equal(a, next) {
			break
		}
		a = next
		moveCentres(centres, e, a)
	}
	return a, nil
}

// kMeans is Lloyd's algorithm without quotas. Of several starts it keeps the one
// with the least sum of squared distances, the first among equals.
func kMeans(ctx context.Context, e *Embedding, shards int, seed uint64) (Assignment, error) {
	distance := make([]float64, e.rows()*shards)
	var best Assignment
	least := math.Inf(1)
	for start := range uint64(plainStarts) {
		centres := startCentres(e, shards, seed, start)
		var a Assignment
		var sum float64
		for range plainSweeps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			distances(distance, e, centres)
			var next Assignment
			next, sum = nearest(distance, shards)
			if slices.Equal(a, next) {
				break
			}
			a = next
			moveCentres(centres, e, a)
		}
		if best == nil || sum < least {
			best, least = a, sum
		}
	}
	return best, nil
}

// nearest assigns every node to the nearest centre, the lowest among equals, and
// returns the sum of these distances.
func nearest(distance []float64, shards int) (Assignment, float64) {
	a := make(Assignment, len(distance)/shards)
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

// distances fills dst (nodes × shards) with squared distances from rows to
// centres, |x|² + |c|² - 2 x·c, which may come out a little below 0.
func distances(dst []float64, e, centres *Embedding) {
	shards := centres.rows()
	across := make([]float64, len(centres.Values)) // -2 c, transposed
	lengths := make([]float64, shards)
	for s := range shards {
		lengths[s] = squared(centres.row(s))
		for j, x := range centres.row(s) {
			across[j*shards+s] = -2 * x
		}
	}
	for i := range e.rows() {
		row := dst[i*shards : (i+1)*shards]
		length := squared(e.row(i))
		for s := range row {
			row[s] = length + lengths[s]
		}
		multiplyRow(row, e.row(i), across)
	}
}

// moveCentres puts every centre at the mean of its nodes. A centre without
// nodes stays.
func moveCentres(centres, e *Embedding, a Assignment) {
	sums := make([]float64, len(centres.Values))
	sizes := make([]int, centres.rows())
	for i, s := range a {
		sizes[s]++
		addScaled(sums[int(s)*e.Columns:int(s+1)*e.Columns], 1, e.row(i))
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
