package trainer

import "gorgonia.org/gorgonia"

// linear adds x·Wᵀ + bias: x is rows × in, w is out × in, bias has length out
// or is nil.
func (b *builder) linear(x, w, bias *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	inputs := gorgonia.Nodes{x, w}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	out := b.rows(w.Shape()[0])
	return b.apply(operation{
		kind: "linear", inputs: inputs, out: out,
		run: func(in []gorgonia.Value) error {
			dst := b.live(out)
			b.work.kernels.MulNT(dst, b.live(in[0]), whole(in[1]), &b.work.scratch)
			if len(in) == 3 {
				shift := floats(in[2])
				for i := range dst.Rows {
					b.work.kernels.Add(dst.Row(i), shift)
				}
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			grads := gorgonia.Nodes{nil, b.linearGradWeight(grad, x, w)}
			if b.needs[x] {
				grads[0] = b.linearGradInput(grad, w)
			}
			if bias != nil {
				grads = append(grads, b.columnSums(grad, bias.Shape()[0]))
			}
			return grads
		},
	})
}

// linearGradInput is G·W, the gradient for x.
func (b *builder) linearGradInput(grad, w *gorgonia.Node) *gorgonia.Node {
	out := b.rows(w.Shape()[1])
	return b.apply(operation{
		kind: "linear.x", inputs: gorgonia.Nodes{grad, w}, out: out,
		run: func(in []gorgonia.Value) error {
			b.work.kernels.MulNN(b.live(out), b.live(in[0]), whole(in[1]), &b.work.scratch)
			return nil
		},
	})
}

// linearGradWeight is Gᵀ·x, the gradient for w.
func (b *builder) linearGradWeight(grad, x, w *gorgonia.Node) *gorgonia.Node {
	shape := w.Shape()
	out := dense(make([]float32, shape.TotalSize()), shape...)
	return b.apply(operation{
		kind: "linear.w", inputs: gorgonia.Nodes{grad, x}, out: out,
		run: func(in []gorgonia.Value) error {
			b.work.kernels.MulTN(whole(out), b.live(in[0]), b.live(in[1]), &b.work.scratch)
			return nil
		},
	})
}

// columnSums adds the live rows of a matrix up, the gradient for a bias.
func (b *builder) columnSums(grad *gorgonia.Node, cols int) *gorgonia.Node {
	out := dense(make([]float32, cols), cols)
	return b.apply(operation{
		kind: "linear.b", inputs: gorgonia.Nodes{grad}, out: out,
		run: func(in []gorgonia.Value) error {
			sum, from := floats(out), b.live(in[0])
			clear(sum)
			for i := range from.Rows {
				b.work.kernels.Add(sum, from.Row(i))
			}
			return nil
		},
	})
}
