package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// EllipticGIN is the paper's GIN for the Elliptic data: three convolutions, each followed by batch
// norm and ReLU, and two linear layers.
const EllipticGIN = "elliptic-gin"

// Convolutions is the number of convolutions of EllipticGIN.
const Convolutions = 3

// Convolution returns the name of the i-th convolution.
func Convolution(i int) string { return fmt.Sprintf("conv%d", i+1) }

// ellipticWidths returns the widths of the convolutions and of fc1. The third convolution and the
// next layer have a quarter of the width, so that 1024 gives the widths of the paper's notebook.
func ellipticWidths(hidden int) []int {
	quarter := max(2, hidden/4)
	return []int{hidden, hidden, quarter, quarter}
}

// ellipticGIN is three GIN convolutions linear-ReLU-linear, each followed by
// batch norm and ReLU, then fc1, batch norm, ReLU and fc2.
func ellipticGIN() Family {
	return Family{
		Name: EllipticGIN, Widths: ellipticWidths, TakesSkip: true, Prepare: SumNeighbours,
		Reach: func(Architecture) int { return Convolutions },
		Parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, width := range a.Widths[:Convolutions] {
				l.Add(Convolution(i)+".eps", layers.Start{}, 1)
				l.Linear(Convolution(i)+".nn.0", in, width)
				l.Linear(Convolution(i)+".nn.2", width, width)
				l.Norm(batchNorm(i), width)
				in = width
			}
			last := a.Widths[Convolutions]
			l.Linear("fc1", in, last)
			l.Norm(batchNorm(Convolutions), last)
			l.Linear("fc2", last, a.Classes)
			SkipParameters(a, l)
		},
		Buffers: func(a Architecture, l *layers.Layout) {
			for i, width := range a.Widths {
				l.RunningNorm(batchNorm(i), width)
			}
		},
		Logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			for i := range Convolutions {
				conv := Convolution(i)
				x = layers.ReLU(n.Builder, n.GINFirst(x, n.Parameter(conv+".eps"), conv, i == 0))
				x = n.Mark(conv, n.Linear(x, conv+".nn.2"))
				x = layers.ReLU(n.Builder, n.Mark(batchNorm(i), n.Norm(x, batchNorm(i))))
			}
			x = n.Norm(n.Linear(x, "fc1"), batchNorm(Convolutions))
			return n.Skip(n.Linear(n.Mark("fc1_bn_relu", layers.ReLU(n.Builder, x)), "fc2"))
		},
	}
}

func batchNorm(i int) string { return fmt.Sprintf("batchnorm%d", i+1) }

// SumNeighbours is a Family.Prepare for GINFirst: the neighbours' features are summed once.
func SumNeighbours(_ Architecture, b *layers.Batch, form Form, features []float32, set kernels.Set) {
	if form == Cached {
		b.SumNeighbours(features, set)
	}
}

// GINFirst adds a GIN convolution up to its first linear layer, conv.nn.0. first means that it is the
// network's first layer, x its features.
func (n *Network) GINFirst(x, eps *gorgonia.Node, conv string, first bool) *gorgonia.Node {
	name := conv + ".nn.0"
	switch {
	case first && n.Form == Cached:
		return n.Linear(layers.GINInput(n.Builder, x, eps), name)
	case first && n.Form == Sparse:
		x = layers.GINSum(n.Builder, layers.Linear(n.Builder, x, n.Parameter(name+".weight"), nil), eps)
		return layers.Bias(n.Builder, x, n.Parameter(name+".bias"))
	default:
		return n.Linear(layers.GINSum(n.Builder, x, eps), name)
	}
}

// SkipParameters adds the parameters of Skip.
func SkipParameters(a Architecture, l *layers.Layout) {
	if a.LinearSkip {
		l.Linear("skip", a.Features, a.Classes)
	}
}

// Skip adds the linear skip to the logits if the architecture has it.
func (n *Network) Skip(logits *gorgonia.Node) *gorgonia.Node {
	if !n.Architecture.LinearSkip {
		return logits
	}
	return layers.Sum(n.Builder, logits, n.Linear(n.Features, "skip"))
}
