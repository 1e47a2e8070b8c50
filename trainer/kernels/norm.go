package kernels

// Normalisation holds the vectors of a batch norm, one value per column.
type Normalisation struct {
	// Shift and Inverse are the mean and one over the standard deviation.
	Shift, Inverse []float32
	Weight, Bias   []float32
	// Sum and Along are Σ g and Σ g·z over the rows, for the gradient.
	Sum, Along []float32
	// Share is one over the number of rows if the mean and the deviation come
	// from these rows, 0 if they are constants.
	Share float32
	call  normalising
}

// normalising is one call of an assembly loop.
type normalising struct {
	dst, z, x                    []float32
	shift, inverse, weight, bias []float32
	sum, along                   []float32
	share                        float32
	rows, cols                   int
}

// bind fills in a call. Every length is checked here, because nothing checks
// them in assembly.
func (n *Normalisation) bind(dst, z, x Matrix) *normalising {
	n.call = normalising{
		dst: dst.Data[:len(x.Data)], z: z.Data[:len(x.Data)], x: x.Data,
		shift: n.Shift[:x.Cols], inverse: n.Inverse[:x.Cols], weight: n.Weight[:x.Cols], bias: n.Bias[:x.Cols],
		sum: n.Sum[:x.Cols], along: n.Along[:x.Cols], share: n.Share,
		rows: x.Rows, cols: x.Cols,
	}
	return &n.call
}
