package kernels

type avx2Rows struct{}

// Axpy implements Rows.
func (avx2Rows) Axpy(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		axpyAVX2(&dst[0], &x[0], len(x), alpha)
	}
}

// SumRows implements Rows.
func (r avx2Rows) SumRows(dst, x Matrix, l Lists) { sumRows(r, dst, x, l) }

// AddRows implements Rows.
func (avx2Rows) AddRows(dst, x, y Matrix) {
	cols := min(dst.Cols, x.Cols, y.Cols)
	whole := wholeGroups(cols)
	if whole == 0 {
		rowAdder{}.AddRows(dst, x, y)
		return
	}
	for i := range dst.Rows {
		out, left, right := dst.Row(i)[:cols], x.Data[i*x.Cols:][:cols], y.Data[min(i, y.Rows-1)*y.Cols:][:cols]
		sumAVX2(&out[0], &left[0], &right[0], whole)
		for j := whole; j < cols; j++ {
			out[j] = left[j] + right[j]
		}
	}
}

type avx512Rows struct{}

// Axpy implements Rows.
func (avx512Rows) Axpy(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		axpyAVX512(&dst[0], &x[0], len(x), alpha)
	}
}

// rowsCall holds the arguments of a loop over lists of rows, and its counters. Strides are in
// bytes; step is the distance between weights.
type rowsCall struct {
	dst           *float32
	dstStride     int
	x             *float32
	stride        int
	rows          *uint32
	weights       *float32
	step          int
	starts        *int
	lists, values int
}

// SumRows implements Rows.
func (r avx512Rows) SumRows(dst, x Matrix, l Lists) {
	cols := min(dst.Cols, x.Cols)
	if len(l.Rows) == 0 || dst.Rows == 0 || cols == 0 {
		sumRows(r, dst, x, l)
		return
	}
	l.check(dst.Rows, x.Rows)
	one := float32(1)
	c := rowsCall{
		dst: &dst.Data[:dst.Rows*dst.Cols][0], dstStride: 4 * dst.Cols,
		x: &x.Data[:x.Rows*x.Cols][0], stride: 4 * x.Cols, rows: &l.Rows[0],
		weights: &one, starts: &l.Starts[0], lists: dst.Rows, values: cols,
	}
	if l.Weights != nil {
		c.weights, c.step = &l.Weights[:len(l.Rows)][0], 4
	}
	sumRowsAVX512(&c)
}

// check panics if a list exceeds its memory or contains a row that does not exist. Rows ascend,
// so checking the last one is sufficient.
func (l Lists) check(lists, rows int) {
	from := l.Starts[0]
	if from < 0 {
		panic("kernels: a list begins before its memory")
	}
	for _, to := range l.Starts[1 : lists+1] {
		if to < from || to > from && int(l.Rows[to-1]) >= rows {
			panic("kernels: a list ends before it begins or names a row that does not exist")
		}
		from = to
	}
}

// addRowsCall holds the arguments of a loop over pairs of rows, and its counters. Strides are in
// bytes.
type addRowsCall struct {
	dst, x, y                   *float32
	dstStride, xStride, yStride int
	rows, values                int
}

// AddRows implements Rows.
func (avx512Rows) AddRows(dst, x, y Matrix) {
	cols := min(dst.Cols, x.Cols, y.Cols)
	if dst.Rows == 0 || cols == 0 {
		return
	}
	c := addRowsCall{
		dst: &dst.Data[:dst.Rows*dst.Cols][0],
		x:   &x.Data[:(dst.Rows-1)*x.Cols+cols][0], y: &y.Data[:(y.Rows-1)*y.Cols+cols][0],
		dstStride: 4 * dst.Cols, xStride: 4 * x.Cols, yStride: 4 * y.Cols, rows: dst.Rows, values: cols,
	}
	switch {
	case y.Rows == 1:
		c.yStride = 0
	case y.Rows < dst.Rows:
		panic("kernels: rows of y end before those of the sum")
	case x.Cols == cols && y.Cols == cols && dst.Cols == cols:
		// The rows are contiguous.
		c.rows, c.values = 1, dst.Rows*cols
	}
	addRowsAVX512(&c)
}

//go:noescape
func addRowsAVX512(c *addRowsCall)

//go:noescape
func sumRowsAVX512(c *rowsCall)

//go:noescape
func axpyAVX2(dst, x *float32, n int, alpha float32)

//go:noescape
func axpyAVX512(dst, x *float32, n int, alpha float32)
