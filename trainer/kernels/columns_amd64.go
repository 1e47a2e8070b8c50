package kernels

type avx512Columns struct{}

// ColumnSums implements Columns.
func (avx512Columns) ColumnSums(sums []float64, x Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums = sums[:x.Cols]
	columnSumsAVX512(&sums[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnSquares implements Columns.
func (avx512Columns) ColumnSquares(sums, centre []float64, x Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums, centre = sums[:x.Cols], centre[:x.Cols]
	columnSquaresAVX512(&sums[0], &centre[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnDots implements Columns.
func (avx512Columns) ColumnDots(sums []float64, x, y Matrix) {
	if len(x.Data) == 0 {
		clear(sums)
		return
	}
	sums, data := sums[:x.Cols], y.Data[:len(x.Data)]
	columnDotsAVX512(&sums[0], &x.Data[0], &data[0], x.Rows, x.Cols)
}

// Normalise implements Columns.
func (avx512Columns) Normalise(dst, z, x Matrix, n *Normalisation) {
	if len(x.Data) > 0 {
		normaliseAVX512(n.bind(dst, z, x))
	}
}

// NormaliseGrad implements Columns.
func (avx512Columns) NormaliseGrad(dst, z, g Matrix, n *Normalisation) {
	if len(g.Data) > 0 {
		normaliseGradAVX512(n.bind(dst, z, g))
	}
}

// bind fills in a call. It checks every length, because the assembly does not.
func (n *Normalisation) bind(dst, z, x Matrix) *normalising {
	n.call = normalising{
		dst: dst.Data[:len(x.Data)], z: z.Data[:len(x.Data)], x: x.Data,
		shift: n.Shift[:x.Cols], inverse: n.Inverse[:x.Cols], weight: n.Weight[:x.Cols], bias: n.Bias[:x.Cols],
		sum: n.Sum[:x.Cols], along: n.Along[:x.Cols], share: n.Share,
		rows: x.Rows, cols: x.Cols,
	}
	return &n.call
}

//go:noescape
func columnSumsAVX512(sums *float64, x *float32, rows, cols int)

//go:noescape
func columnSquaresAVX512(sums, centre *float64, x *float32, rows, cols int)

//go:noescape
func columnDotsAVX512(sums *float64, x, y *float32, rows, cols int)

//go:noescape
func normaliseAVX512(n *normalising)

//go:noescape
func normaliseGradAVX512(n *normalising)
