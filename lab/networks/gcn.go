package networks

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/graphlayers"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// The graph convolutions, with and without nonlinearities between them.
const (
	GCN = "gcn"
	SGC = "sgc"
)

// gcn is two graph convolutions S·x·W + bias with ReLU between them.
func gcn() models.Family {
	return models.Family{
		Name: GCN, Widths: models.OneLayer, TakesDropout: true,
		Reach:   func(models.Architecture) int { return convolutions + 1 },
		Prepare: propagateOnce,
		Parameters: func(a models.Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				l.Add(models.Convolution(i)+".bias", layers.Start{}, out)
				l.Matrix(models.Convolution(i)+".lin.weight", in, out, glorot(in, out))
				in = out
			}
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Mark("conv1", gcnLayer(n, dropout(n, n.Features), 0))
			return gcnLayer(n, dropout(n, n.Mark("act1", layers.ReLU(n.Builder, x))), 1)
		},
	}
}

func gcnLayer(n *models.Network, x *gorgonia.Node, i int) *gorgonia.Node {
	w, bias := n.Parameter(models.Convolution(i)+".lin.weight"), n.Parameter(models.Convolution(i)+".bias")
	if i == 0 && n.Form == models.Cached {
		return layers.Linear(n.Builder, n.Aggregated(n.Architecture.Features), w, bias)
	}
	return layers.Bias(n.Builder, graphlayers.Propagate(n.Builder, layers.Linear(n.Builder, x, w, nil), 1, 0), bias)
}

// sgc is one linear layer of S^hops·X, which does not depend on the weights. It has 2 hops.
func sgc() models.Family {
	return models.Family{
		Name: SGC, Widths: func(int) []int { return []int{} }, Sizes: models.Architecture{Hops: 2},
		Reach: reachOfHops, Prepare: propagateAlways,
		Parameters: func(a models.Architecture, l *layers.Layout) {
			l.Linear("conv1.lin", a.Features, a.Classes)
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Features
			if n.Form == models.Differentiable {
				x = graphlayers.Propagate(n.Builder, x, n.Architecture.Hops, 0)
			} else {
				x = n.Aggregated(n.Architecture.Features)
			}
			return n.Linear(x, "conv1.lin")
		},
	}
}
