package layers

import "gorgonia.org/gorgonia"

// LeakyReLU adds x for x > 0 and slope·x otherwise; slope is positive. The
// models have it within attention alone: as a layer it shows the kernels beside
// the reference.
func LeakyReLU(b *Builder, x *gorgonia.Node, slope float32) *gorgonia.Node {
	return elementwise(b, "leaky", x,
		func(dst, x []float32) { b.Work.kernels.Activations.LeakyReLU(dst, x, slope) },
		func(dst, y, g []float32) { b.Work.kernels.Activations.LeakyReLUGrad(dst, y, g, slope) })
}
