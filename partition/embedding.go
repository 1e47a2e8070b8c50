package partition

import (
	"fmt"
	"math"

	"lethe"
)

// Embedding places every node in a space of Columns dimensions.
type Embedding struct {
	Columns int
	// Values is row-major: one row of Columns numbers per node.
	Values []float64
}

func (e *Embedding) rows() int           { return len(e.Values) / e.Columns }
func (e *Embedding) row(i int) []float64 { return e.Values[i*e.Columns : (i+1)*e.Columns] }

// check reports whether the embedding has a row of finite numbers for each of n
// nodes.
func (e *Embedding) check(n int) error {
	if e.Columns < 1 || len(e.Values) != n*e.Columns {
		return fmt.Errorf("embedding has %d values in rows of %d, want %d rows", len(e.Values), e.Columns, n)
	}
	for p, x := range e.Values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("embedding of node %d has %v in column %d, want finite numbers", p/e.Columns, x, p%e.Columns)
		}
	}
	return nil
}

const (
	// projectionColumns keeps distances between neighbourhoods to about a sixth.
	projectionColumns = 64
	// projectionHops is how far a neighbourhood reaches.
	projectionHops = 4
)

// projectNeighbourhoods is the embedding that bekm falls back on: every node gets
// keyed normal draws, which are averaged over its neighbours hop by hop, and rows
// end at length 1. Nodes whose random walks meet lie close. It is FastRP (Chen,
// Sultan, Tian, Chen and Skiena, CIKM 2019) with equal weights for the hops, and
// uses no features. Isolated nodes have a row of zeros.
func projectNeighbourhoods(g *Graph, seed uint64) *Embedding {
	e := &Embedding{Columns: projectionColumns, Values: make([]float64, g.N()*projectionColumns)}
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
				addScaled(row, 1/float64(len(g.Neighbors(i))), from[at:at+projectionColumns])
			}
		}
		addScaled(e.Values, 1, to)
		from, to = to, from
	}
	for i := range g.N() {
		if length := norm(e.row(i)); length > 0 {
			scale(e.row(i), 1/length)
		}
	}
	return e
}
