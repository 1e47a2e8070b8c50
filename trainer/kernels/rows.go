package kernels

// Rows take matrices by whole rows, which is what sparse products, sums over
// neighbours and biases consist of.
//
// The sets differ in Axpy, and so in SumRows.
type Rows interface {
	// Axpy adds alpha·x to dst, which is at least as long.
	Axpy(dst, x []float32, alpha float32)
	// SumRows stores Σ_e weight[e]·x[row[e]] in row i of dst for the i-th list, e
	// ascending, with the bits of repeated Axpy. If one matrix has fewer columns
	// than the other, the sums are over the first columns, and the other columns of
	// dst stay.
	SumRows(dst, x Matrix, l Lists)
	// AddRows stores the sum of row i of x and row i of y in row i of dst, which may
	// be x or y, with the same bits in every set. A y with a single row is added to
	// all of them. Columns are those that all matrices have, as in SumRows; the last
	// row of x and y may end there.
	AddRows(dst, x, y Matrix)
}

// Lists are lists of rows: list i holds Rows[Starts[i]:Starts[i+1]], ascending,
// with the weights at the same places. Weights may be nil, which stands for ones.
type Lists struct {
	Starts  []int
	Rows    []uint32
	Weights []float32
}

// axpyer is what the sums over rows can be made of.
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

// rowAdder is the half of Rows that all loops in plain Go have in common.
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

// fusedRows make fused multiply-adds of float64 ones.
type fusedRows struct{ rowAdder }

// Axpy implements Rows.
func (fusedRows) Axpy(dst, x []float32, alpha float32) {
	for i, v := range x {
		dst[i] = fusedMultiplyAdd(alpha, v, dst[i])
	}
}

// SumRows implements Rows.
func (r fusedRows) SumRows(dst, x Matrix, l Lists) { sumRows(r, dst, x, l) }
