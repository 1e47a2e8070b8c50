package layers

import "gorgonia.org/gorgonia"

// ReLU adds max(x, 0) element by element. NaN stays NaN, so that it reaches the loss and is
// reported.
func ReLU(b *Builder, x *gorgonia.Node) *gorgonia.Node {
	return Elementwise(b, "relu", x, b.Work.Kernels.Activations.ReLU, b.Work.Kernels.Activations.ReLUGrad)
}

// Elementwise adds a function of single elements. backward stores its derivative, computed from
// the function's result y, times g.
func Elementwise(
	b *Builder, kind string, x *gorgonia.Node, forward func(dst, x []float32), backward func(dst, y, g []float32),
) *gorgonia.Node {
	out := b.NewRows(Width(x))
	return b.Apply(Operation{
		Kind: kind, Inputs: gorgonia.Nodes{x}, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			forward(b.Live(out).Data, b.Live(in[0]).Data)
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(Width(y))
			return gorgonia.Nodes{b.Apply(Operation{
				Kind: kind + ".x", Inputs: gorgonia.Nodes{y, grad}, Out: back,
				Run: func(in []gorgonia.Value) error {
					backward(b.Live(back).Data, b.Live(in[0]).Data, b.Live(in[1]).Data)
					return nil
				},
			})}
		},
	})
}
