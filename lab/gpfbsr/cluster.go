package gpfbsr

import (
	"context"
	"math"
	"slices"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
)

const (
	// plainStarts and plainSweeps are the values of the published code.
	plainStarts = 10
	plainSweeps = 50
)

// cluster is Lloyd's algorithm without quotas. Of several starts it returns the result with the
// smallest sum of squared distances, the first in a tie.
func cluster(ctx context.Context, e *kmeans.Points, shards int, seed uint64) (graph.Assignment, error) {
	distance := make([]float64, e.Rows()*shards)
	var best graph.Assignment
	least := math.Inf(1)
	for start := range uint64(plainStarts) {
		centres := kmeans.StartCentres(e, shards, seed, start)
		var a graph.Assignment
		var sum float64
		for range plainSweeps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			kmeans.Distances(distance, e, centres)
			var next graph.Assignment
			next, sum = nearest(distance, shards)
			if slices.Equal(a, next) {
				break
			}
			a = next
			kmeans.MoveCentres(centres, e, a)
		}
		if best == nil || sum < least {
			best, least = a, sum
		}
	}
	return best, nil
}

// nearest assigns every node to the nearest centre, the lowest in a tie, and returns the sum of
// the distances.
func nearest(distance []float64, shards int) (graph.Assignment, float64) {
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
