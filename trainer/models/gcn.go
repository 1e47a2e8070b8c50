package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// The graph convolutions, with and without nonlinearities between them.
const (
	GCN = "gcn"
	SGC = "sgc"
)

// convolution returns the name of the i-th convolution.
func convolution(i int) string { return fmt.Sprintf("conv%d", i+1) }

// gcn is two graph convolutions S·x·W + bias with ReLU between them.
func gcn() family {
	return family{
		name: GCN, widths: oneLayer, takesDropout: true, aggregation: layers.Propagation,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				l.Add(convolution(i)+".bias", layers.Start{}, out)
				l.Matrix(convolution(i)+".lin.weight", in, out, layers.Glorot(in, out))
				in = out
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.mark("conv1", n.gcn(n.dropout(n.Features), 0))
			return n.gcn(n.dropout(n.mark("act1", layers.ReLU(n.Builder, x))), 1)
		},
	}
}

func (n *Network) gcn(x *gorgonia.Node, i int) *gorgonia.Node {
	w, bias := n.parameter(convolution(i)+".lin.weight"), n.parameter(convolution(i)+".bias")
	if i == 0 && n.Form == Cached {
		return layers.Linear(n.Builder, n.Aggregated(n.Architecture.Features), w, bias)
	}
	return layers.Bias(n.Builder, layers.Propagate(n.Builder, layers.Linear(n.Builder, x, w, nil), 1, 0), bias)
}

// sgc is one linear layer of S^hops·X, which does not depend on the weights. It has 2 hops.
func sgc() family {
	return family{
		name: SGC, widths: func(int) []int { return []int{} }, sizes: Architecture{Hops: 2},
		aggregation: layers.Propagation, prepared: true,
		parameters: func(a Architecture, l *layers.Layout) {
			l.Linear("conv1.lin", a.Features, a.Classes)
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			if n.Form == Differentiable {
				x = layers.Propagate(n.Builder, x, n.Architecture.Hops, 0)
			} else {
				x = n.Aggregated(n.Architecture.Features)
			}
			return n.linear(x, "conv1.lin")
		},
	}
}
