package kernels

import "math"

// plain holds the loops that give the same bits in every set, in plain Go: what
// they multiply is rounded before it is added, or exact in float64.
type plain struct{}

// Add implements Elements.
func (plain) Add(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += v
	}
}

// Scale implements Elements.
func (plain) Scale(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = alpha * v
	}
}

// Dot implements Elements.
func (plain) Dot(x, y []float32) float64 {
	var sums [16]float64
	y = y[:len(x)]
	for i, v := range x {
		sums[i%16] += float64(float64(v) * float64(y[i]))
	}
	for half := 8; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}

// ReLU implements Elements.
func (plain) ReLU(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}

// ReLUGrad implements Elements.
func (plain) ReLUGrad(dst, y, g []float32) {
	dst, g = dst[:len(y)], g[:len(y)]
	for i, v := range y {
		// The mask is 0 or all ones. A branch here would be mispredicted half
		// of the time.
		b := math.Float32bits(v)
		mask := uint32(int32(b|-b) >> 31)
		dst[i] = math.Float32frombits(math.Float32bits(g[i]) & mask)
	}
}

// ColumnSums implements Columns.
func (plain) ColumnSums(sums []float64, x Matrix) {
	clear(sums)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			sums[j] += float64(v)
		}
	}
}

// ColumnSquares implements Columns.
func (plain) ColumnSquares(sums, centre []float64, x Matrix) {
	clear(sums)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			d := float64(v) - centre[j]
			sums[j] += float64(d * d)
		}
	}
}

// ColumnDots implements Columns.
func (plain) ColumnDots(sums []float64, x, y Matrix) {
	clear(sums)
	for i := range x.Rows {
		other := y.Row(i)
		for j, v := range x.Row(i) {
			sums[j] += float64(float64(v) * float64(other[j]))
		}
	}
}

// Normalise implements Columns.
func (plain) Normalise(dst, z, x Matrix, n *Normalisation) {
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
func (plain) NormaliseGrad(dst, z, g Matrix, n *Normalisation) {
	for i := range g.Rows {
		out, normalised := dst.Row(i), z.Row(i)
		for j, v := range g.Row(i) {
			centred := v - float32(n.Share*(n.Sum[j]+float32(normalised[j]*n.Along[j])))
			out[j] = float32(n.Weight[j]*n.Inverse[j]) * centred
		}
	}
}
