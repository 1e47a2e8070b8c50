package gomath

import "math"

// Exp returns e^x: 0 below the smallest subnormal number, +Inf from 2^1023.5. NaN stays NaN.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	// ln 2 in two parts; the products with k are exact or fused.
	const (
		ln2High = 0.69314718055966295651160180568695068359375
		ln2Low  = 0.28235290563031577122588448175013436025525412068e-12
	)
	k := math.RoundToEven(float64(x * math.Log2E))
	if k > 1023 {
		return math.Inf(1)
	}
	r := math.FMA(-k, ln2Low, math.FMA(-k, ln2High, x)) * 0.0625
	// e^r − 1 by its series, and its sixteenth power by squaring 1 + y as y·(2 + y).
	y := math.FMA(2.4801587301587301587e-5, r, 1.9841269841269841270e-4)
	y = math.FMA(y, r, 1.3888888888888888889e-3)
	y = math.FMA(y, r, 8.3333333333333333333e-3)
	y = math.FMA(y, r, 4.1666666666666666667e-2)
	y = math.FMA(y, r, 1.6666666666666666667e-1)
	y = math.FMA(y, r, 0.5)
	y = math.FMA(y, r, 1)
	y = float64(r * y)
	for range 3 {
		y = float64(y * (y + 2))
	}
	return math.Ldexp(math.FMA(y+2, y, 1), int(k))
}
