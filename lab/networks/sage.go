package networks

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/graphlayers"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// SAGE is GraphSAGE with means.
const SAGE = "sage"

// sage is two GraphSAGE convolutions with ReLU between them.
func sage() models.Family {
	return models.Family{
		Name: SAGE, Widths: models.OneLayer, TakesDropout: true, Reach: reach, Prepare: means,
		Parameters: func(a models.Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				conv := models.Convolution(i)
				l.Linear(conv+".lin_l", in, out)
				l.Matrix(conv+".lin_r.weight", in, out, layers.FanIn(in))
				in = out
			}
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Mark("conv1", sageLayer(n, dropout(n, n.Features), 0))
			return sageLayer(n, dropout(n, n.Mark("act1", layers.ReLU(n.Builder, x))), 1)
		},
	}
}

func sageLayer(n *models.Network, x *gorgonia.Node, i int) *gorgonia.Node {
	conv := models.Convolution(i)
	left, bias := n.Parameter(conv+".lin_l.weight"), n.Parameter(conv+".lin_l.bias")
	right := n.Parameter(conv + ".lin_r.weight")
	if i == 0 && n.Form == models.Cached {
		return graphlayers.SAGEInput(n.Builder, x, left, bias, right)
	}
	return graphlayers.SAGE(n.Builder, x, left, bias, right)
}
