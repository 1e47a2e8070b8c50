package kmeans

import (
	"math"

	"lethe"
	"lethe/internal/portable/gomath"
	"lethe/partition/vectors"
)

// StartCentres picks rows of e as centres (k-means++, Arthur and Vassilvitskii 2007, greedy
// variant): the first by a keyed draw; for each next one it draws a few rows with a probability
// proportional to the squared distance from the previous centres, and picks the one with the
// smallest remaining sum. Once every row is a centre, the last one repeats. try distinguishes
// several starts.
func StartCentres(e *Points, shards int, seed, try uint64) *Points {
	n := e.Rows()
	draw := lethe.NewDraw(seed, "gpfb-centres", try)
	candidates := 2 + int(gomath.Log(float64(shards)))
	// Squared distances to the closest centre: current, with a candidate, and with the best
	// candidate.
	closest, with, best := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range closest {
		closest[i] = math.Inf(1)
	}
	pick := draw.IntN(n)
	total := closer(closest, closest, e, pick)
	centres := &Points{Columns: e.Columns, Values: append(make([]float64, 0, shards*e.Columns), e.Row(pick)...)}
	for range shards - 1 {
		least := math.Inf(1)
		for range candidates {
			row := positionOf(draw.Float64()*total, closest)
			if sum := closer(with, closest, e, row); sum < least {
				least, pick = sum, row
				best, with = with, best
			}
		}
		closest, best, total = best, closest, least
		centres.Values = append(centres.Values, e.Row(pick)...)
	}
	return centres
}

// closer fills dst with the smaller of closest and the squared distance from row
// pick, and returns the sum. dst may be closest.
func closer(dst, closest []float64, e *Points, pick int) float64 {
	sum := 0.0
	for i := range dst {
		dst[i] = min(closest[i], vectors.SquaredDistance(e.Row(i), e.Row(pick)))
		sum += dst[i]
	}
	return sum
}

// positionOf returns the position at which the running sum of the weights exceeds x, or the last
// one.
func positionOf(x float64, weights []float64) int {
	last := len(weights) - 1
	for i, w := range weights[:last] {
		if x < w {
			return i
		}
		x -= w
	}
	return last
}
