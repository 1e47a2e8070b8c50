package layers

import "gorgonia.org/gorgonia"

// HeadMean adds the mean over the heads of an attention layer's result.
func HeadMean(b *Builder, x *gorgonia.Node, heads int) *gorgonia.Node {
	if b.err != nil || heads == 1 {
		return x
	}
	cols := width(x) / heads
	out, share := b.rows(cols), 1/float32(heads)
	return b.apply(operation{
		kind: "heads", inputs: gorgonia.Nodes{x}, out: out, reads: sameRow,
		run: func(in []gorgonia.Value) error {
			dst, from := b.live(out), b.live(in[0])
			clear(dst.Data)
			for i := range dst.Rows {
				for h := range heads {
					b.Work.kernels.Rows.Axpy(dst.Row(i), from.Row(i)[h*cols:(h+1)*cols], share)
				}
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(heads * cols)
			return gorgonia.Nodes{b.apply(operation{
				kind: "heads.x", inputs: gorgonia.Nodes{grad}, out: back,
				run: func(in []gorgonia.Value) error {
					dst, g := b.live(back), b.live(in[0])
					for i := range dst.Rows {
						for h := range heads {
							b.Work.kernels.Elements.Scale(dst.Row(i)[h*cols:(h+1)*cols], g.Row(i), share)
						}
					}
					return nil
				},
			})}
		},
	})
}
