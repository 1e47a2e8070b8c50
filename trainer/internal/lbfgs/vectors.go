package lbfgs

import "math"

// dot returns the scalar product, in four interleaved sums; remaining entries are added to the
// first.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s2) + (s1 + s3)
}

// addScaledTo stores a + factor b.
func addScaledTo(into, a []float64, factor float64, b []float64) {
	for i, v := range b {
		into[i] = a[i] + float64(factor*v)
	}
}

func scale(v []float64, factor float64) {
	for i := range v {
		v[i] *= factor
	}
}

// norm returns the Euclidean length without overflow or underflow of squares.
func norm(v []float64) float64 {
	largest, sum := 0.0, 1.0
	for _, x := range v {
		switch x = math.Abs(x); {
		case x == 0:
		case largest < x:
			ratio := largest / x
			sum = float64(float64(sum*ratio)*ratio) + 1
			largest = x
		default:
			ratio := x / largest
			sum += float64(ratio * ratio)
		}
	}
	return largest * math.Sqrt(sum)
}

// largest returns the largest magnitude, or NaN if v has one.
func largest(v []float64) float64 {
	out := 0.0
	for _, x := range v {
		out = max(out, math.Abs(x))
	}
	return out
}
