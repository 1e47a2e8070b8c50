package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// HeadMean adds the mean over the heads of an attention layer's result.
func HeadMean(b *layers.Builder, x *gorgonia.Node, heads int) *gorgonia.Node {
	if heads == 1 {
		return x
	}
	cols := layers.Width(x) / heads
	out, share := b.NewRows(cols), 1/float32(heads)
	return b.Apply(layers.Operation{
		Kind: "heads", Inputs: gorgonia.Nodes{x}, Out: out, Reads: layers.SameRow,
		Run: func(in []gorgonia.Value) error {
			dst, from := b.Live(out), b.Live(in[0])
			clear(dst.Data)
			for i := range dst.Rows {
				for h := range heads {
					b.Work.Kernels.Rows.Axpy(dst.Row(i), from.Row(i)[h*cols:(h+1)*cols], share)
				}
			}
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(heads * cols)
			return gorgonia.Nodes{b.Apply(layers.Operation{
				Kind: "heads.x", Inputs: gorgonia.Nodes{grad}, Out: back,
				Run: func(in []gorgonia.Value) error {
					dst, g := b.Live(back), b.Live(in[0])
					for i := range dst.Rows {
						for h := range heads {
							b.Work.Kernels.Elements.Scale(dst.Row(i)[h*cols:(h+1)*cols], g.Row(i), share)
						}
					}
					return nil
				},
			})}
		},
	})
}
