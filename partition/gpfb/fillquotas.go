package gpfb

import (
	"context"
	"slices"

	"lethe/partition/graph"
	"lethe/partition/kmeans"
)

// lloydSweeps bounds the rounds of assigning nodes under quotas and moving
// centres. The assignment settles after about ten; later rounds move a handful of
// nodes.
const lloydSweeps = 12

// fillQuotas rounds an embedding to shards: k-means from the centres given, in
// which the assignment fills the quotas. It moves the centres. A round costs
// O(n v d + n log n) for d columns.
func fillQuotas(ctx context.Context, g *graph.Graph, e *kmeans.Points, q *graph.Quotas,
	centres *kmeans.Points) (graph.Assignment, error) {
	distance := make([]float64, g.N()*q.Shards())
	var a graph.Assignment
	for range lloydSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kmeans.Distances(distance, e, centres)
		next := assignByRegret(g, distance, q)
		if slices.Equal(a, next) {
			break
		}
		a = next
		kmeans.MoveCentres(centres, e, a)
	}
	return a, nil
}
