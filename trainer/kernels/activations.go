package kernels

import "math"

// Activations process vectors element by element. Every set computes the same bits. Other
// arguments must be at least as long as dst; they may be dst.
type Activations interface {
	// ReLU stores max(x, 0); NaN stays NaN.
	ReLU(dst, x []float32)
	// ReLUGrad stores g where y is not 0, else 0.
	ReLUGrad(dst, y, g []float32)
}

type plainActivations struct{}

// ReLU implements Activations.
func (plainActivations) ReLU(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}

// ReLUGrad implements Activations.
func (plainActivations) ReLUGrad(dst, y, g []float32) {
	dst, g = dst[:len(y)], g[:len(y)]
	for i, v := range y {
		// The mask is 0 or all ones. A branch would be mispredicted half of the time.
		b := math.Float32bits(v)
		mask := uint32(int32(b|-b) >> 31)
		dst[i] = math.Float32frombits(math.Float32bits(g[i]) & mask)
	}
}
