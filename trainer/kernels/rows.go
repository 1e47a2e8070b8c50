package kernels

// Rows take a matrix by whole rows, which is what sparse products and sums over
// neighbours consist of. They give the bits of repeated Axpy.
type Rows interface {
	// SumRows stores Σ_e weight[e]·x[row[e]] in row i of dst for the i-th list, e
	// ascending. If one matrix has fewer columns than the other, the sums are over
	// the first columns, and the other columns of dst stay.
	SumRows(dst, x Matrix, l Lists)
}

// Lists are lists of rows: list i holds Rows[Starts[i]:Starts[i+1]], ascending,
// with the weights at the same places. Weights may be nil, which stands for ones.
type Lists struct {
	Starts  []int
	Rows    []uint32
	Weights []float32
}

// axpyer is what Rows can be made of.
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

// SumRows implements Rows.
func (p Portable) SumRows(dst, x Matrix, l Lists) { sumRows(p, dst, x, l) }

// SumRows implements Rows.
func (p plainLoops) SumRows(dst, x Matrix, l Lists) { sumRows(p, dst, x, l) }
