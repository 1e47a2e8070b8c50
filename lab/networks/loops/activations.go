package loops

import "math"

// Activations process vectors element by element. Every set computes the same bits. Other
// arguments must be at least as long as dst; they may be dst.
type Activations interface {
	// LeakyReLU stores x where x > 0 and slope·x elsewhere.
	LeakyReLU(dst, x []float32, slope float32)
	// LeakyReLUGrad stores g where y > 0 and slope·g elsewhere.
	LeakyReLUGrad(dst, y, g []float32, slope float32)
	// ELU stores e^x − 1 where x < 0 and x elsewhere.
	ELU(dst, x []float32)
	// ELUGrad stores g·(1 + min(y, 0)), where y is the result of ELU.
	ELUGrad(dst, y, g []float32)
	// Sigmoid stores 1/(1+e^-x).
	Sigmoid(dst, x []float32)
}

type plainActivations struct{}

// LeakyReLU implements Activations.
func (plainActivations) LeakyReLU(dst, x []float32, slope float32) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = v * leakySlope(v, slope)
	}
}

// LeakyReLUGrad implements Activations.
func (plainActivations) LeakyReLUGrad(dst, y, g []float32, slope float32) {
	y, g = y[:len(dst)], g[:len(dst)]
	for i, v := range y {
		dst[i] = g[i] * leakySlope(v, slope)
	}
}

func leakySlope(x, slope float32) float32 {
	if x > 0 {
		return 1
	}
	return slope
}

// ELU implements Activations.
func (plainActivations) ELU(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		if v < 0 {
			v = exponential(v) - 1
		}
		dst[i] = v
	}
}

// ELUGrad implements Activations.
func (plainActivations) ELUGrad(dst, y, g []float32) {
	y, g = y[:len(dst)], g[:len(dst)]
	for i, v := range y {
		// e^x is y + 1 where x is negative.
		dst[i] = g[i] * (1 + min(v, 0))
	}
}

// Sigmoid implements Activations.
func (plainActivations) Sigmoid(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		e := exponential(-float32(math.Abs(float64(v))))
		above := float32(1)
		if v < 0 {
			above = e
		}
		dst[i] = above / (1 + e)
	}
}

// The constants of exponential: ln 2 in two parts, and 1/n!.
const (
	ln2High = 0.693359375
	ln2Low  = -2.12194440e-4
)

// exponential returns e^x for x ≤ 0, accurate to two units in the last place: a polynomial of
// degree 6 after extracting powers of two. Below -87 it is 0; NaN stays NaN. It uses only sums
// and products, so that the loops for 16 values compute the same bits.
func exponential(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < -87:
		return 0
	}
	k := float32(math.Floor(float64(float32(x*math.Log2E) + 0.5)))
	r := x - float32(k*ln2High)
	r -= float32(k * ln2Low)
	sum := float32(1.0 / 720)
	for _, c := range [...]float32{1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1} {
		sum = float32(sum*r) + c
	}
	return float32(sum * math.Float32frombits(uint32(int32(k)+127)<<23))
}
