package layers

import "gorgonia.org/gorgonia"

// ReLU adds max(x, 0) element by element. NaN stays NaN, so that it reaches the loss and is
// reported.
func ReLU(b *Builder, x *gorgonia.Node) *gorgonia.Node {
	return elementwise(b, "relu", x, b.Work.kernels.Activations.ReLU, b.Work.kernels.Activations.ReLUGrad)
}

// ELU adds x for x > 0 and e^x − 1 otherwise (Clevert et al., ICLR 2016).
func ELU(b *Builder, x *gorgonia.Node) *gorgonia.Node {
	return elementwise(b, "elu", x, b.Work.kernels.Activations.ELU, b.Work.kernels.Activations.ELUGrad)
}

// elementwise adds a function of single elements. backward stores its derivative, computed from
// the function's result y, times g.
func elementwise(
	b *Builder, kind string, x *gorgonia.Node, forward func(dst, x []float32), backward func(dst, y, g []float32),
) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: kind, inputs: gorgonia.Nodes{x}, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			forward(b.live(out).Data, b.live(in[0]).Data)
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(width(y))
			return gorgonia.Nodes{b.apply(operation{
				kind: kind + ".x", inputs: gorgonia.Nodes{y, grad}, out: back,
				run: func(in []gorgonia.Value) error {
					backward(b.live(back).Data, b.live(in[0]).Data, b.live(in[1]).Data)
					return nil
				},
			})}
		},
	})
}
