package layers

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

// exponential32 is e^x in single precision, good to two units in the last place:
// a polynomial of degree 6 after taking out powers of two. Above 88 it is +Inf,
// below -87 it is 0, and what is not a number stays one. Attention takes it per
// edge and head, where the double one would cost more than the rest.
func exponential32(x float32) float32 {
	switch {
	case x != x:
		return x
	case x > 88:
		return float32(math.Inf(1))
	case x < -87:
		return 0
	}
	const (
		ln2High = 0.693359375
		ln2Low  = -2.12194440e-4
	)
	k := float32(math.Floor(float64(float32(x*math.Log2E) + 0.5)))
	r := x - float32(k*ln2High)
	r -= float32(k * ln2Low)
	sum := float32(1.0 / 720)
	for _, c := range [...]float32{1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1} {
		sum = float32(sum*r) + c
	}
	return float32(sum * math.Float32frombits(uint32(int32(k)+127)<<23))
}

// sigmoid is 1/(1+e^-x).
func sigmoid(x float32) float32 {
	if x < 0 {
		e := exponential32(x)
		return e / (1 + e)
	}
	return 1 / (1 + exponential32(-x))
}
