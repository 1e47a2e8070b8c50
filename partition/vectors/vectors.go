// Package vectors has the loops over float64 vectors that embedding and k-means share. Sums have
// a fixed order, and no product is fused with a sum.
package vectors

import "math"

// AddScaled adds factor times x to y, which has the same length.
func AddScaled(y []float64, factor float64, x []float64) {
	y = y[:len(x)]
	for j := range x {
		y[j] += float64(factor * x[j])
	}
}

// AddScaled4 adds four scaled vectors to y at once, which halves the memory traffic of the
// hottest loop.
func AddScaled4(y []float64, factor [4]float64, a, b, c, d []float64) {
	a, b, c, d = a[:len(y)], b[:len(y)], c[:len(y)], d[:len(y)]
	fa, fb, fc, fd := factor[0], factor[1], factor[2], factor[3]
	for j := range y {
		y[j] += (float64(fa*a[j]) + float64(fb*b[j])) + (float64(fc*c[j]) + float64(fd*d[j]))
	}
}

// MultiplyRow adds the row vector x times the len(x) × len(y) matrix m to y.
func MultiplyRow(y, x, m []float64) {
	v := len(y)
	j := 0
	for ; j+4 <= len(x); j += 4 {
		rows := m[j*v : (j+4)*v]
		AddScaled4(y, [4]float64(x[j:j+4]), rows[:v], rows[v:2*v], rows[2*v:3*v], rows[3*v:])
	}
	for ; j < len(x); j++ {
		AddScaled(y, x[j], m[j*v:(j+1)*v])
	}
}

// SquaredDistance returns |x - y|². Two running sums keep the processor busy.
func SquaredDistance(x, y []float64) float64 {
	y = y[:len(x)]
	even, odd := 0.0, 0.0
	j := 0
	for ; j+2 <= len(x); j += 2 {
		d, e := x[j]-y[j], x[j+1]-y[j+1]
		even += float64(d * d)
		odd += float64(e * e)
	}
	if j < len(x) {
		d := x[j] - y[j]
		even += float64(d * d)
	}
	return even + odd
}

// Completion returns a unit vector orthogonal to the basis, which must have fewer than n vectors.
func Completion(n int, basis [][]float64) []float64 {
	best, bestLeft := 0, math.Inf(-1)
	for i := range n {
		left := 1.0
		for _, b := range basis {
			left -= float64(b[i] * b[i])
		}
		if left > bestLeft {
			best, bestLeft = i, left
		}
	}
	u := make([]float64, n)
	u[best] = 1
	Orthogonalise(u, basis)
	Scale(u, 1/Norm(u))
	return u
}

// Orthogonalise subtracts from u its components along the orthonormal basis.
func Orthogonalise(u []float64, basis [][]float64) {
	for _, b := range basis {
		dot := 0.0
		for i, x := range b {
			dot += float64(x * u[i])
		}
		AddScaled(u, -dot, b)
	}
}

// Norm returns |u|.
func Norm(u []float64) float64 { return math.Sqrt(Squared(u)) }

// Squared returns |u|².
func Squared(u []float64) float64 {
	sum := 0.0
	for _, x := range u {
		sum += float64(x * x)
	}
	return sum
}

// Scale multiplies u by a factor.
func Scale(u []float64, factor float64) {
	for i := range u {
		u[i] *= factor
	}
}
