package kmeans

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
