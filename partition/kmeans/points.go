package kmeans

import (
	"fmt"
	"math"
)

// Points places every node in a space of Columns dimensions.
type Points struct {
	Columns int
	// Values is row-major: one row of Columns numbers per node.
	Values []float64
}

// Rows returns the number of points.
func (e *Points) Rows() int { return len(e.Values) / e.Columns }

// Row returns point i. It aliases the points.
func (e *Points) Row(i int) []float64 { return e.Values[i*e.Columns : (i+1)*e.Columns] }

// Check reports whether the embedding has a row of finite numbers for each of n
// nodes.
func (e *Points) Check(n int) error {
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
