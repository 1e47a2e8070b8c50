package trainer

import (
	"math"

	"gorgonia.org/gorgonia"
)

// relu adds max(x, 0) element by element. A value that is not a number stays
// one, so that it reaches the loss and is reported.
func (b *builder) relu(x *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(x.Shape()[1])
	return b.apply(operation{
		kind: "relu", inputs: gorgonia.Nodes{x}, out: out,
		run: func(in []gorgonia.Value) error {
			dst := b.live(out).Data
			for i, v := range b.live(in[0]).Data {
				dst[i] = max(v, 0)
			}
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{b.reluGrad(y, grad)}
		},
	})
}

// reluGrad passes the gradient on where the result y is not 0.
func (b *builder) reluGrad(y, grad *gorgonia.Node) *gorgonia.Node {
	out := b.rows(y.Shape()[1])
	return b.apply(operation{
		kind: "relu.x", inputs: gorgonia.Nodes{y, grad}, out: out,
		run: func(in []gorgonia.Value) error {
			dst, g := b.live(out).Data, b.live(in[1]).Data
			for i, v := range b.live(in[0]).Data {
				// The bits of y are 0 or positive, so this mask is 0 or all
				// ones. A branch here would be mispredicted half of the time.
				mask := uint32(-int32(math.Float32bits(v)) >> 31)
				dst[i] = math.Float32frombits(math.Float32bits(g[i]) & mask)
			}
			return nil
		},
	})
}

// sum adds two matrices of one shape.
func (b *builder) sum(x, y *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(x.Shape()[1])
	return b.apply(operation{
		kind: "sum", inputs: gorgonia.Nodes{x, y}, out: out,
		run: func(in []gorgonia.Value) error {
			dst := b.live(out).Data
			copy(dst, b.live(in[0]).Data)
			b.work.kernels.Add(dst, b.live(in[1]).Data)
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes { return gorgonia.Nodes{grad, grad} },
	})
}
