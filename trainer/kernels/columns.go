package kernels

// Columns process matrices column by column, rows in ascending order, as batch norms need. Every
// set computes the same bits. Sums have one value per column.
type Columns interface {
	// ColumnSums stores Σ x.
	ColumnSums(sums []float64, x Matrix)
	// ColumnSquares stores Σ (x − centre)².
	ColumnSquares(sums, centre []float64, x Matrix)
	// ColumnDots stores Σ x·y.
	ColumnDots(sums []float64, x, y Matrix)
	// Normalise stores z = (x − Shift)·Inverse and dst = z·Weight + Bias.
	Normalise(dst, z, x Matrix, n *Normalisation)
	// NormaliseGrad stores Weight·Inverse·(g − Share·(Sum + z·Along)).
	NormaliseGrad(dst, z, g Matrix, n *Normalisation)
}

// Normalisation holds the vectors of a batch norm, one value per column.
type Normalisation struct {
	// Shift and Inverse are the mean and one over the standard deviation.
	Shift, Inverse []float32
	Weight, Bias   []float32
	// Sum and Along are Σ g and Σ g·z over the rows, for the gradient.
	Sum, Along []float32
	// Share is one over the number of rows if mean and deviation are computed from these rows, 0 if
	// they are constants.
	Share float32
	call  normalising
}

// normalising holds the arguments of an assembly loop.
type normalising struct {
	dst, z, x                    []float32
	shift, inverse, weight, bias []float32
	sum, along                   []float32
	share                        float32
	rows, cols                   int
}

type plainColumns struct{}

// ColumnSums implements Columns.
func (plainColumns) ColumnSums(sums []float64, x Matrix) {
	clear(sums)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			sums[j] += float64(v)
		}
	}
}

// ColumnSquares implements Columns.
func (plainColumns) ColumnSquares(sums, centre []float64, x Matrix) {
	clear(sums)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			d := float64(v) - centre[j]
			sums[j] += float64(d * d)
		}
	}
}

// ColumnDots implements Columns.
func (plainColumns) ColumnDots(sums []float64, x, y Matrix) {
	clear(sums)
	for i := range x.Rows {
		other := y.Row(i)
		for j, v := range x.Row(i) {
			sums[j] += float64(float64(v) * float64(other[j]))
		}
	}
}

// Normalise implements Columns.
func (plainColumns) Normalise(dst, z, x Matrix, n *Normalisation) {
	for i := range x.Rows {
		out, normalised := dst.Row(i), z.Row(i)
		for j, v := range x.Row(i) {
			s := (v - n.Shift[j]) * n.Inverse[j]
			normalised[j] = s
			out[j] = float32(s*n.Weight[j]) + n.Bias[j]
		}
	}
}

// NormaliseGrad implements Columns.
func (plainColumns) NormaliseGrad(dst, z, g Matrix, n *Normalisation) {
	for i := range g.Rows {
		out, normalised := dst.Row(i), z.Row(i)
		for j, v := range g.Row(i) {
			centred := v - float32(n.Share*(n.Sum[j]+float32(normalised[j]*n.Along[j])))
			out[j] = float32(n.Weight[j]*n.Inverse[j]) * centred
		}
	}
}
