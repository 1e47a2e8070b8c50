package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// Propagate adds the result of hops steps of x_{k+1} = (1−teleport)·S·x_k + teleport·x_0 with S =
// D^-1/2 (A+I) D^-1/2, where D are the degrees including the loop: the propagation of APPNP
// (Klicpera, Bojchevski and Günnemann, "Predict then Propagate", ICLR 2019). One hop without
// teleport is GCN's (Kipf and Welling, ICLR 2017), several are SGC's (Wu et al., ICML 2019).
//
// S is symmetric, so the gradient for x is the same polynomial of S.
func Propagate(b *layers.Builder, x *gorgonia.Node, hops int, teleport float32) *gorgonia.Node {
	return propagation(b, "propagate", x, hops, teleport)
}

func propagation(b *layers.Builder, kind string, x *gorgonia.Node, hops int, teleport float32) *gorgonia.Node {
	out, spare := b.NewRows(layers.Width(x)), b.NewRows(layers.Width(x))
	return b.Apply(layers.Operation{
		Kind: kind, Inputs: gorgonia.Nodes{x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			from, dst, other := b.Live(in[0]), b.Live(out), b.Live(spare)
			if hops == 0 {
				copy(dst.Data, from.Data)
				return nil
			}
			if hops%2 == 0 {
				dst, other = other, dst
			}
			last := from
			for range hops {
				derived(b.Work).graph.propagate(b.Work.Kernels.Rows, dst, last)
				if teleport > 0 {
					blendRows(dst.Data, from.Data, teleport)
				}
				last, dst, other = dst, other, dst
			}
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{propagation(b, "propagate.x", grad, hops, teleport)}
		},
	})
}

// blendRows stores (1−alpha)·dst + alpha·x.
func blendRows(dst, x []float32, alpha float32) {
	rest := 1 - alpha
	x = x[:len(dst)]
	for i, v := range dst {
		dst[i] = float32(rest*v) + float32(alpha*x[i])
	}
}

// propagate stores S·x. Neighbours are added in ascending order.
func (g *graph) propagate(rows kernels.Rows, dst, x kernels.Matrix) {
	rows.SumRows(dst, x, kernels.Lists{Starts: g.starts, Rows: g.targets, Weights: g.normalised})
}
