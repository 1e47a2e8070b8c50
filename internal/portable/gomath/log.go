package gomath

import "math"

// Log returns the natural logarithm: NaN below 0, -Inf at 0, x itself for +Inf and NaN. It is
// correct for subnormal numbers, unlike package math on amd64.
func Log(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	const (
		ln2High = 6.93147180369123816490e-01
		ln2Low  = 1.90821492927058770002e-10
	)
	m, exponent := math.Frexp(x)
	if m <= math.Sqrt2/2 {
		m, exponent = 2*m, exponent-1
	}
	f, k := m-1, float64(exponent)
	// ln(1+f) = f − f²/2 + s·(f²/2 + R), where R is a polynomial in s².
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	odd := float64(s2 * (6.666666666666735130e-01 + float64(s4*(2.857142874366239149e-01+
		float64(s4*(1.818357216161805012e-01+float64(s4*1.479819860511658591e-01)))))))
	even := float64(s4 * (3.999999999940941908e-01 + float64(s4*(2.222219843214978396e-01+
		float64(s4*1.531383769920937332e-01)))))
	half := float64(float64(0.5*f) * f)
	return float64(k*ln2High) - ((half - (float64(s*(half+(odd+even))) + float64(k*ln2Low))) - f)
}
