package baselines

import (
	"lethe"
	"lethe/partition/graph"
	"lethe/partition/kmeans"
	"lethe/partition/vectors"
)

const (
	// projectionColumns preserves distances between neighbourhoods to about a sixth.
	projectionColumns = 64
	// projectionHops is the radius of a neighbourhood.
	projectionHops = 4
)

// projectNeighbourhoods is bekm's embedding without a model: every node gets keyed normal draws,
// which are averaged over its neighbours hop by hop, and rows are scaled to length 1. Nodes whose
// random walks meet are close. It is FastRP (Chen, Sultan, Tian, Chen and Skiena, CIKM 2019) with
// equal weights for the hops and without features. Isolated nodes have a row of zeros.
func projectNeighbourhoods(g *graph.Graph, seed uint64) *kmeans.Points {
	e := &kmeans.Points{Columns: projectionColumns, Values: make([]float64, g.N()*projectionColumns)}
	from, to := make([]float64, len(e.Values)), make([]float64, len(e.Values))
	for i := range g.N() {
		draw := lethe.NewDraw(seed, "bekm-projection", uint64(i))
		for j := range projectionColumns {
			from[i*projectionColumns+j] = draw.Normal()
		}
	}
	for range projectionHops {
		clear(to)
		for i := range g.N() {
			row := to[i*projectionColumns : (i+1)*projectionColumns]
			for _, j := range g.Neighbors(i) {
				at := int(j) * projectionColumns
				vectors.AddScaled(row, 1/float64(len(g.Neighbors(i))), from[at:at+projectionColumns])
			}
		}
		vectors.AddScaled(e.Values, 1, to)
		from, to = to, from
	}
	for i := range g.N() {
		if length := vectors.Norm(e.Row(i)); length > 0 {
			vectors.Scale(e.Row(i), 1/length)
		}
	}
	return e
}
