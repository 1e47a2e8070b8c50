package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/loops"
	"lethe/trainer/layers"
)

// ELU adds x for x > 0 and e^x − 1 otherwise (Clevert et al., ICLR 2016).
func ELU(b *layers.Builder, x *gorgonia.Node) *gorgonia.Node {
	a := loops.Of(b.Work.Kernels).Activations
	return layers.Elementwise(b, "elu", x, a.ELU, a.ELUGrad)
}
