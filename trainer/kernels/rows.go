package kernels

// Rows take a matrix by whole rows, which is what sparse products and sums over
// neighbours consist of. They give the bits of repeated Axpy.
type Rows interface {
	// SumRows stores Σ_e weights[e]·x[rows[e]], e ascending, in dst, which has at
	// most x.Cols values: those of the first columns. rows ascend; weights may be
	// nil, which stands for ones.
	SumRows(dst []float32, x Matrix, rows []uint32, weights []float32)
	// AddRows adds weights[e]·x to row rows[e] of dst for every e. x has
	// dst.Cols values; rows ascend.
	AddRows(dst Matrix, x []float32, rows []uint32, weights []float32)
}

// axpyer is what Rows can be made of.
type axpyer interface {
	Axpy(dst, x []float32, alpha float32)
}

func sumRows[K axpyer](k K, dst []float32, x Matrix, rows []uint32, weights []float32) {
	clear(dst)
	for e, row := range rows {
		weight := float32(1)
		if weights != nil {
			weight = weights[e]
		}
		k.Axpy(dst, x.Row(int(row))[:len(dst)], weight)
	}
}

func addRows[K axpyer](k K, dst Matrix, x []float32, rows []uint32, weights []float32) {
	for e, row := range rows {
		k.Axpy(dst.Row(int(row)), x, weights[e])
	}
}

// SumRows implements Rows.
func (p Portable) SumRows(dst []float32, x Matrix, rows []uint32, weights []float32) {
	sumRows(p, dst, x, rows, weights)
}

// AddRows implements Rows.
func (p Portable) AddRows(dst Matrix, x []float32, rows []uint32, weights []float32) {
	addRows(p, dst, x, rows, weights)
}

// SumRows implements Rows.
func (p plainLoops) SumRows(dst []float32, x Matrix, rows []uint32, weights []float32) {
	sumRows(p, dst, x, rows, weights)
}

// AddRows implements Rows.
func (p plainLoops) AddRows(dst Matrix, x []float32, rows []uint32, weights []float32) {
	addRows(p, dst, x, rows, weights)
}
