package partition

import "math"

// addScaled adds factor times x to y, which has the same length.
func addScaled(y []float64, factor float64, x []float64) {
	y = y[:len(x)]
	for j := range x {
		y[j] += factor * x[j]
	}
}

// addScaled4 adds four scaled vectors to y at once, which halves the memory
// traffic of the loop that takes most of the time.
func addScaled4(y []float64, factor [4]float64, a, b, c, d []float64) {
	a, b, c, d = a[:len(y)], b[:len(y)], c[:len(y)], d[:len(y)]
	fa, fb, fc, fd := factor[0], factor[1], factor[2], factor[3]
	for j := range y {
		y[j] += (fa*a[j] + fb*b[j]) + (fc*c[j] + fd*d[j])
	}
}

// multiplyRow adds the row vector x times the len(x) × len(y) matrix m to y.
func multiplyRow(y, x, m []float64) {
	v := len(y)
	j := 0
	for ; j+4 <= len(x); j += 4 {
		rows := m[j*v : (j+4)*v]
		addScaled4(y, [4]float64(x[j:j+4]), rows[:v], rows[v:2*v], rows[2*v:3*v], rows[3*v:])
	}
	for ; j < len(x); j++ {
		addScaled(y, x[j], m[j*v:(j+1)*v])
	}
}

// squaredDistance returns |x - y|². Two running sums keep the processor busy.
func squaredDistance(x, y []float64) float64 {
	y = y[:len(x)]
	even, odd := 0.0, 0.0
	j := 0
	for ; j+2 <= len(x); j += 2 {
		d, e := x[j]-y[j], x[j+1]-y[j+1]
		even += d * d
		odd += e * e
	}
	if j < len(x) {
		d := x[j] - y[j]
		even += d * d
	}
	return even + odd
}

// completion returns a unit vector orthogonal to the basis, which has fewer
// than n vectors.
func completion(n int, basis [][]float64) []float64 {
	best, bestLeft := 0, math.Inf(-1)
	for i := range n {
		left := 1.0
		for _, b := range basis {
			left -= b[i] * b[i]
		}
		if left > bestLeft {
			best, bestLeft = i, left
		}
	}
	u := make([]float64, n)
	u[best] = 1
	orthogonalise(u, basis)
	scale(u, 1/norm(u))
	return u
}

// orthogonalise takes from u its parts along the orthonormal basis.
func orthogonalise(u []float64, basis [][]float64) {
	for _, b := range basis {
		dot := 0.0
		for i, x := range b {
			dot += x * u[i]
		}
		addScaled(u, -dot, b)
	}
}

func norm(u []float64) float64 { return math.Sqrt(squared(u)) }

// squared returns |u|².
func squared(u []float64) float64 {
	sum := 0.0
	for _, x := range u {
		sum += x * x
	}
	return sum
}

func scale(u []float64, factor float64) {
	for i := range u {
		u[i] *= factor
	}
}
