// Package portable has the elementary functions of the numeric core, with the same bits on every
// architecture. Package math has assembly on some architectures, and compilers fuse products into
// sums on others; here every product is rounded before it is added. Code that must reproduce the
// bytes of package math on amd64 uses gomath.
package portable

import "math"

const (
	// ln2High + ln2Low is ln 2 beyond double precision; ln2High has trailing
	// zeros, so that its products with small integers are exact.
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
	// logTerms is the number of terms z^(2n+1)/(2n+1) needed for |z| ≤ 3-2√2.
	logTerms = 11
)

// Exp returns e^x, accurate to a few units in the last place. It is 0 below -700 and +Inf above 709;
// NaN stays NaN.
//
// The losses of networks have an exponential of their own (trainer/layers), summed in another order
// with different last bits. The bytes of checkpoints depend on both, so merging them would change
// existing models.
func Exp(x float64) float64 {
	switch {
	case x < -700:
		return 0
	case x > 709:
		return math.Inf(1)
	case x != x:
		return x
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	// The series Σ r^n/n!, with even and odd powers separate so that the two sums can be computed in
	// parallel.
	q := r * r
	even := float64(q*(1.0/87178291200)) + 1.0/479001600
	even = float64(q*even) + 1.0/3628800
	even = float64(q*even) + 1.0/40320
	even = float64(q*even) + 1.0/720
	even = float64(q*even) + 1.0/24
	even = float64(q*even) + 1.0/2
	odd := float64(q*(1.0/6227020800)) + 1.0/39916800
	odd = float64(q*odd) + 1.0/362880
	odd = float64(q*odd) + 1.0/5040
	odd = float64(q*odd) + 1.0/120
	odd = float64(q*odd) + 1.0/6
	odd = float64(q*odd) + 1
	// k is from -1010 to 1023, so 2^k is a normal number.
	return (1 + (float64(r*odd) + float64(q*even))) * math.Float64frombits(uint64(int(k)+1023)<<52)
}

// Log returns the natural logarithm of a positive finite x, accurate to a few units in the last
// place: ln x = k ln 2 + 2 artanh z with z = (m-1)/(m+1) and x = m·2^k, m in [1/√2, √2). It
// panics for other x.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		panic("portable: logarithm of a number that is not positive and finite")
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	z := (m - 1) / (m + 1)
	square := z * z
	sum := 0.0
	for n := logTerms; n >= 1; n-- {
		sum = float64(square * (sum + 1/float64(2*n+1)))
	}
	return float64(float64(k)*ln2High) + (float64(float64(k)*ln2Low) + (2*z + float64(2*z*sum)))
}

// Logistic returns 1/(1+e^-x).
func Logistic(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + Exp(-x))
	}
	e := Exp(x)
	return e / (1 + e)
}

// LogOnePlusExp returns ln(1+e^x), the log-loss of an example with margin -x.
func LogOnePlusExp(x float64) float64 {
	return max(x, 0) + Log(1+Exp(-math.Abs(x)))
}

// Softmax replaces logits with the class probabilities and returns ln Σ e^z.
func Softmax(z []float64) float64 {
	largest := math.Inf(-1)
	for _, v := range z {
		largest = max(largest, v)
	}
	sum := 0.0
	for c, v := range z {
		z[c] = Exp(v - largest)
		sum += z[c]
	}
	for c := range z {
		z[c] /= sum
	}
	return largest + Log(sum)
}
