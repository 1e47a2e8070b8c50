package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// GIN is the graph isomorphism network of the citation graphs.
const GIN = "gin"

// gin is two GIN convolutions with ReLU between them. The network of each is
// linear, batch norm, ReLU, linear, and ε is learned, unless the architecture is
// Plain.
func gin() family {
	return family{
		name: GIN, widths: oneLayer, takesPlain: true, aggregation: layers.NeighbourSum,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				ginParameters(l, convolution(i), []int{in, a.Widths[0], out}, a.Plain)
				in = out
			}
		},
		buffers: func(a Architecture, l *layers.Layout) {
			for i := range 2 {
				if !a.Plain {
					l.RunningNorm(convolution(i)+".nn.1", a.Widths[0])
				}
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			for i := range 2 {
				conv := convolution(i)
				x = n.ginFirst(x, conv, i == 0)
				second := ".nn.2"
				if !n.Architecture.Plain {
					x, second = n.norm(x, conv+".nn.1"), ".nn.3"
				}
				x = n.linear(layers.ReLU(n.Builder, x), conv+second)
				if i == 0 {
					x = n.mark("act1", layers.ReLU(n.Builder, n.mark(conv, x)))
				}
			}
			return x
		},
	}
}

// ginParameters adds the parameters of a GIN convolution whose network has the given widths, with
// a batch norm after every linear layer except the last, unless it is plain.
func ginParameters(l *layers.Layout, conv string, widths []int, plain bool) {
	if !plain {
		l.Add(conv+".eps", layers.Start{}, 1)
	}
	module := 0
	for i := range len(widths) - 1 {
		l.Linear(fmt.Sprintf("%s.nn.%d", conv, module), widths[i], widths[i+1])
		if !plain && i < len(widths)-2 {
			module++
			l.Norm(fmt.Sprintf("%s.nn.%d", conv, module), widths[i+1])
		}
		module += 2
	}
}

// ginFirst adds a GIN convolution up to its first linear layer.
func (n *Network) ginFirst(x *gorgonia.Node, conv string, first bool) *gorgonia.Node {
	name := conv + ".nn.0"
	var eps *gorgonia.Node
	if n.Architecture.Plain {
		eps = n.Input("eps", []float32{0}, false, 1)
	} else {
		eps = n.parameter(conv + ".eps")
	}
	switch {
	case first && n.Form == Cached:
		return n.linear(layers.GINInput(n.Builder, x, eps), name)
	case first && n.Form == Sparse:
		x = layers.GINSum(n.Builder, layers.Linear(n.Builder, x, n.parameter(name+".weight"), nil), eps)
		return layers.Bias(n.Builder, x, n.parameter(name+".bias"))
	default:
		return n.linear(layers.GINSum(n.Builder, x, eps), name)
	}
}
