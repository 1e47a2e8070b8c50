package kernels

// SumRows implements Rows.
func (a avx2Loops) SumRows(dst []float32, x Matrix, rows []uint32, weights []float32) {
	sumRows(a, dst, x, rows, weights)
}

// AddRows implements Rows.
func (a avx2Loops) AddRows(dst Matrix, x []float32, rows []uint32, weights []float32) {
	addRows(a, dst, x, rows, weights)
}

// rowsCall is one call of a loop over rows. Strides are in bytes; step is from
// one weight to the next.
type rowsCall struct {
	dst, x        *float32
	stride        int
	rows          *uint32
	weights       *float32
	step          int
	count, values int
}

// SumRows implements Rows.
func (avx512Loops) SumRows(dst []float32, x Matrix, rows []uint32, weights []float32) {
	if len(rows) == 0 || len(dst) == 0 {
		clear(dst)
		return
	}
	// Rows ascend: nothing else checks them in assembly.
	last := x.Row(int(rows[len(rows)-1]))[:len(dst)]
	one := float32(1)
	c := rowsCall{
		dst: &dst[0], x: &x.Data[0], stride: 4 * x.Cols, rows: &rows[0],
		weights: &one, count: len(rows), values: len(last),
	}
	if weights != nil {
		c.weights, c.step = &weights[:len(rows)][0], 4
	}
	sumRowsAVX512(&c)
}

// AddRows implements Rows.
func (avx512Loops) AddRows(dst Matrix, x []float32, rows []uint32, weights []float32) {
	if len(rows) == 0 || len(x) == 0 {
		return
	}
	last := dst.Row(int(rows[len(rows)-1]))[:len(x)]
	c := rowsCall{
		dst: &dst.Data[0], x: &x[0], stride: 4 * dst.Cols, rows: &rows[0],
		weights: &weights[:len(rows)][0], step: 4, count: len(rows), values: len(last),
	}
	addRowsAVX512(&c)
}

//go:noescape
func sumRowsAVX512(c *rowsCall)

//go:noescape
func addRowsAVX512(c *rowsCall)
