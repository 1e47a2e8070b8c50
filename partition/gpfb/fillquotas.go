package gpfb

import (
	"context"
	"slices"

	"lethe/partition/graph"
	"lethe/partition/kmeans"
)

// lloydSweeps bounds the rounds of assigning nodes under quotas and moving centres. The
// assignment converges after about ten; later rounds move a handful of nodes.
const lloydSweeps = 12

// FillQuotas rounds an embedding to shards: k-means from the given centres with an assignment
// step that fills the quotas. It moves the centres. A round costs O(n v d + n log n) for d
// columns.
func FillQuotas(ctx context.Context, g *graph.Graph, e *kmeans.Points, q *graph.Quotas,
	centres *kmeans.Points) (graph.Assignment, error) {
	return boundedMeans(ctx, e, centres, func(distance []float64) graph.Assignment {
		return assignByRegret(g, distance, q)
	})
}

// boundedMeans is k-means with bounded shards: assign receives the distance of every row to every
// centre. It moves the centres.
func boundedMeans(ctx context.Context, e, centres *kmeans.Points,
	assign func(distance []float64) graph.Assignment) (graph.Assignment, error) {
	distance := make([]float64, e.Rows()*centres.Rows())
	var a graph.Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kmeans.Distances(distance, e, centres)
		next := assign(distance)
		if slices.Equal(a, next) {
			break
		}
		a = next
		kmeans.MoveCentres(centres, e, a)
	}
	return a, nil
}
