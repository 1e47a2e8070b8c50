package kernels

// avx2Columns uses plain Go for matrices whose columns are not a multiple of the group.
type avx2Columns struct{}

// whole reports whether the loops for AVX2 support a matrix.
func (avx2Columns) whole(x Matrix) bool { return len(x.Data) > 0 && wholeGroups(x.Cols) == x.Cols }

// ColumnSums implements Columns.
func (c avx2Columns) ColumnSums(sums []float64, x Matrix) {
	if !c.whole(x) {
		plainColumns{}.ColumnSums(sums, x)
		return
	}
	sums = sums[:x.Cols]
	columnSumsAVX2(&sums[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnSquares implements Columns.
func (c avx2Columns) ColumnSquares(sums, centre []float64, x Matrix) {
	if !c.whole(x) {
		plainColumns{}.ColumnSquares(sums, centre, x)
		return
	}
	sums, centre = sums[:x.Cols], centre[:x.Cols]
	columnSquaresAVX2(&sums[0], &centre[0], &x.Data[0], x.Rows, x.Cols)
}

// ColumnDots implements Columns.
func (c avx2Columns) ColumnDots(sums []float64, x, y Matrix) {
	if !c.whole(x) {
		plainColumns{}.ColumnDots(sums, x, y)
		return
	}
	sums, data := sums[:x.Cols], y.Data[:len(x.Data)]
	columnDotsAVX2(&sums[0], &x.Data[0], &data[0], x.Rows, x.Cols)
}

// Normalise implements Columns.
func (c avx2Columns) Normalise(dst, z, x Matrix, n *Normalisation) {
	if !c.whole(x) {
		plainColumns{}.Normalise(dst, z, x, n)
		return
	}
	normaliseAVX2(n.bind(dst, z, x))
}

// NormaliseGrad implements Columns.
func (c avx2Columns) NormaliseGrad(dst, z, g Matrix, n *Normalisation) {
	if !c.whole(g) {
		plainColumns{}.NormaliseGrad(dst, z, g, n)
		return
	}
	normaliseGradAVX2(n.bind(dst, z, g))
}

//go:noescape
func columnSumsAVX2(sums *float64, x *float32, rows, cols int)

//go:noescape
func columnSquaresAVX2(sums, centre *float64, x *float32, rows, cols int)

//go:noescape
func columnDotsAVX2(sums *float64, x, y *float32, rows, cols int)

//go:noescape
func normaliseAVX2(n *normalising)

//go:noescape
func normaliseGradAVX2(n *normalising)
