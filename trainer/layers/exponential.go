package layers

import "math"

// Exponential returns e^x using only sums and products, because math.Exp has assembly on some
// architectures and may differ there in the last bit. It is accurate to a few units in the last
// place of float64 and meant for x ≤ 0, as after subtracting the largest logit; below -700 it is
// 0. NaN stays NaN. The terms of its series are 1/n! for n up to 13, the last significant one for
// |r| ≤ ln2/2.
//
// portable.Exp is the same function, summed in another order with different last bits. The bytes
// of checkpoints depend on both: networks on this one; trees, logistic regression and blends on
// the other. Merging them would change existing models.
func Exponential(x float64) float64 {
	if x < -700 {
		return 0
	}
	const (
		ln2High = 6.93147180369123816490e-01
		ln2Low  = 1.90821492927058770002e-10
	)
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	// Pairs of terms, pairs of pairs, and so on: the sums of a level can be computed in parallel.
	r2 := r * r
	r4 := r2 * r2
	low := (1 + r) + float64(r2*(1.0/2+float64(r*(1.0/6))))
	next := (1.0/24 + float64(r*(1.0/120))) + float64(r2*(1.0/720+float64(r*(1.0/5040))))
	third := (1.0/40320 + float64(r*(1.0/362880))) + float64(r2*(1.0/3628800+float64(r*(1.0/39916800))))
	last := 1.0/479001600 + float64(r*(1.0/6227020800))
	sum := (low + float64(r4*next)) + float64(float64(r4*r4)*(third+float64(r4*last)))
	return sum * math.Float64frombits(uint64(int64(k)+1023)<<52)
}
