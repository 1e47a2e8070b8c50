package citation

// Sparse is a matrix by rows (CSR): row i has its values
// Value[RowStart[i]:RowStart[i+1]] in the columns Column[the same], which
// ascend. Zeros are not stored.
type Sparse struct {
	Rows, Columns int
	// RowStart has Rows+1 entries.
	RowStart []int
	Column   []int32
	Value    []float32
}

// Row returns the columns and values of row i. They alias the matrix.
func (m *Sparse) Row(i int) (columns []int32, values []float32) {
	from, to := m.RowStart[i], m.RowStart[i+1]
	return m.Column[from:to], m.Value[from:to]
}

// Dense returns the matrix with all its zeros, row-major, Rows*Columns values.
func (m *Sparse) Dense() []float32 {
	out := make([]float32, m.Rows*m.Columns)
	for i := range m.Rows {
		columns, values := m.Row(i)
		for k, c := range columns {
			out[i*m.Columns+int(c)] = values[k]
		}
	}
	return out
}
