package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// SAGE is GraphSAGE with means.
const SAGE = "sage"

// sage is two GraphSAGE convolutions with ReLU between them.
func sage() family {
	return family{
		name: SAGE, widths: oneLayer, takesDropout: true, aggregation: layers.NeighbourMean,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				conv := convolution(i)
				l.Linear(conv+".lin_l", in, out)
				l.Matrix(conv+".lin_r.weight", in, out, layers.FanIn(in))
				in = out
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.mark("conv1", n.sage(n.dropout(n.Features), 0))
			return n.sage(n.dropout(n.mark("act1", layers.ReLU(n.Builder, x))), 1)
		},
	}
}

func (n *Network) sage(x *gorgonia.Node, i int) *gorgonia.Node {
	conv := convolution(i)
	left, bias := n.parameter(conv+".lin_l.weight"), n.parameter(conv+".lin_l.bias")
	right := n.parameter(conv + ".lin_r.weight")
	if i == 0 && n.Form == Cached {
		return layers.SAGEInput(n.Builder, x, left, bias, right)
	}
	return layers.SAGE(n.Builder, x, left, bias, right)
}
