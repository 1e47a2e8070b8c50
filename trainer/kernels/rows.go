package kernels

// Rows process matrices by whole rows, as sparse products, sums over neighbours and biases need.
//
// The sets differ in Axpy, and so in SumRows.
type Rows interface {
	// Axpy adds alpha·x to dst, which is at least as long.
	Axpy(dst, x []float32, alpha float32)
	// SumRows stores Σ_e weight[e]·x[row[e]] in row i of dst for the i-th list, e ascending, with
	// the bits of repeated Axpy. If one matrix has fewer columns than the other, only the common
	// first columns are summed, and other columns of dst stay unchanged.
	SumRows(dst, x Matrix, l Lists)
	// AddRows stores the sum of row i of x and row i of y in row i of dst, which may be x or y, with
	// the same bits in every set. If y has a single row, it is added to all rows. Only the common
	// columns are used, as in SumRows; the last row of x and y may end there.
	AddRows(dst, x, y Matrix)
}

// Lists are lists of rows: list i holds Rows[Starts[i]:Starts[i+1]], ascending, with parallel
// weights. If Weights is nil, all are one.
type Lists struct {
	Starts  []int
	Rows    []uint32
	Weights []float32
}

// axpyer is the loop from which sums over rows are built.
type axpyer interface {
	Axpy(dst, x []float32, alpha float32)
}

func sumRows[K axpyer](k K, dst, x Matrix, l Lists) {
	cols := min(dst.Cols, x.Cols)
	for i := range dst.Rows {
		out := dst.Row(i)[:cols]
		clear(out)
		for e := l.Starts[i]; e < l.Starts[i+1]; e++ {
			weight := float32(1)
			if l.Weights != nil {
				weight = l.Weights[e]
			}
			k.Axpy(out, x.Row(int(l.Rows[e]))[:cols], weight)
		}
	}
}

// rowAdder is the part of Rows that all plain Go loops share.
type rowAdder struct{}

// AddRows implements Rows.
func (rowAdder) AddRows(dst, x, y Matrix) {
	cols := min(dst.Cols, x.Cols, y.Cols)
	for i := range dst.Rows {
		out, left, right := dst.Row(i)[:cols], x.Data[i*x.Cols:][:cols], y.Data[min(i, y.Rows-1)*y.Cols:][:cols]
		for j, v := range left {
			out[j] = v + right[j]
		}
	}
}

// portableRows fuse no product with a sum.
type portableRows struct{ rowAdder }

// Axpy implements Rows.
func (portableRows) Axpy(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float32(alpha * v)
	}
}

// SumRows implements Rows.
func (r portableRows) SumRows(dst, x Matrix, l Lists) { sumRows(r, dst, x, l) }

// fusedRows emulate fused multiply-adds in float64.
type fusedRows struct{ rowAdder }

// Axpy implements Rows.
func (fusedRows) Axpy(dst, x []float32, alpha float32) {
	for i, v := range x {
		dst[i] = fusedMultiplyAdd(alpha, v, dst[i])
	}
}

// SumRows implements Rows.
func (r fusedRows) SumRows(dst, x Matrix, l Lists) { sumRows(r, dst, x, l) }
