package trainer

import "math"

// exponential is e^x from sums and products alone, because math.Exp has its own
// assembly on some architectures and may differ there in the last bit. It is
// good to a few units in the last place of float64 and meant for x ≤ 0, as
// after subtracting the largest logit; below -700 it is 0. What is not a
// number stays one.
func exponential(x float64) float64 {
	if x < -700 {
		return 0
	}
	const (
		ln2High = 6.93147180369123816490e-01
		ln2Low  = 1.90821492927058770002e-10
		// 1/n! falls below the precision of float64 for |r| ≤ ln2/2.
		terms = 14
	)
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	sum := 1.0
	for n := terms; n >= 1; n-- {
		sum = 1 + float64(sum*r)/float64(n)
	}
	return math.Ldexp(sum, int(k))
}

// integerPower is b^n by repeated squaring, portable where math.Pow need not be.
func integerPower(b float64, n uint64) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= b
		}
		b *= b
	}
	return result
}
