package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// The models of the Elliptic data.
const (
	// EllipticGIN is the paper's GIN: three convolutions, each followed by batch
	// norm and ReLU, and two linear layers.
	EllipticGIN = "elliptic-gin"
	// EllipticGINMLP3 follows the paper's text: three linear layers with batch norms inside each
	// convolution instead of two without.
	EllipticGINMLP3 = "elliptic-gin-mlp3"
)

// ellipticConvolutions is the number of convolutions of the Elliptic models.
const ellipticConvolutions = 3

// ellipticWidths returns the widths of the convolutions and of fc1. The third convolution and the
// next layer have a quarter of the width, so that 1024 gives the widths of the paper's notebook.
func ellipticWidths(hidden int) []int {
	quarter := max(2, hidden/4)
	return []int{hidden, hidden, quarter, quarter}
}

// ellipticGIN is three GIN convolutions linear-ReLU-linear, each followed by
// batch norm and ReLU, then fc1, batch norm, ReLU and fc2.
func ellipticGIN() family {
	return family{
		name: EllipticGIN, served: true, widths: ellipticWidths, takesSkip: true, aggregation: layers.NeighbourSum,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, width := range a.Widths[:ellipticConvolutions] {
				l.Add(convolution(i)+".eps", layers.Start{}, 1)
				l.Linear(convolution(i)+".nn.0", in, width)
				l.Linear(convolution(i)+".nn.2", width, width)
				l.Norm(batchNorm(i), width)
				in = width
			}
			last := a.Widths[ellipticConvolutions]
			l.Linear("fc1", in, last)
			l.Norm(batchNorm(ellipticConvolutions), last)
			l.Linear("fc2", last, a.Classes)
			skipParameters(a, l)
		},
		buffers: func(a Architecture, l *layers.Layout) {
			for i, width := range a.Widths {
				l.RunningNorm(batchNorm(i), width)
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			for i := range ellipticConvolutions {
				conv := convolution(i)
				x = layers.ReLU(n.Builder, n.ginFirst(x, conv, i == 0))
				x = n.mark(conv, n.linear(x, conv+".nn.2"))
				x = layers.ReLU(n.Builder, n.mark(batchNorm(i), n.norm(x, batchNorm(i))))
			}
			x = n.norm(n.linear(x, "fc1"), batchNorm(ellipticConvolutions))
			return n.skip(n.linear(n.mark("fc1_bn_relu", layers.ReLU(n.Builder, x)), "fc2"))
		},
	}
}

// ellipticGINMLP3 is three GIN convolutions linear-norm-ReLU-linear-norm-ReLU-
// linear, ReLU after each, then fc1, ReLU and fc2.
func ellipticGINMLP3() family {
	return family{
		name: EllipticGINMLP3, widths: ellipticWidths, takesSkip: true, aggregation: layers.NeighbourSum,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, width := range a.Widths[:ellipticConvolutions] {
				ginParameters(l, convolution(i), []int{in, width, width, width}, false)
				in = width
			}
			last := a.Widths[ellipticConvolutions]
			l.Linear("fc1", in, last)
			l.Linear("fc2", last, a.Classes)
			skipParameters(a, l)
		},
		buffers: func(a Architecture, l *layers.Layout) {
			for i, width := range a.Widths[:ellipticConvolutions] {
				l.RunningNorm(convolution(i)+".nn.1", width)
				l.RunningNorm(convolution(i)+".nn.4", width)
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			for i := range ellipticConvolutions {
				conv := convolution(i)
				x = layers.ReLU(n.Builder, n.norm(n.ginFirst(x, conv, i == 0), conv+".nn.1"))
				x = layers.ReLU(n.Builder, n.norm(n.linear(x, conv+".nn.3"), conv+".nn.4"))
				x = layers.ReLU(n.Builder, n.mark(conv, n.linear(x, conv+".nn.6")))
			}
			return n.skip(n.linear(n.mark("fc1_relu", layers.ReLU(n.Builder, n.linear(x, "fc1"))), "fc2"))
		},
	}
}

func batchNorm(i int) string { return fmt.Sprintf("batchnorm%d", i+1) }

func skipParameters(a Architecture, l *layers.Layout) {
	if a.LinearSkip {
		l.Linear("skip", a.Features, a.Classes)
	}
}

// skip adds the linear skip to the logits if the architecture has it.
func (n *Network) skip(logits *gorgonia.Node) *gorgonia.Node {
	if !n.Architecture.LinearSkip {
		return logits
	}
	return layers.Sum(n.Builder, logits, n.linear(n.Features, "skip"))
}
