package networks

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// GIN is the graph isomorphism network of the citation graphs.
const GIN = "gin"

// gin is two GIN convolutions with ReLU between them. The network of each is
// linear, batch norm, ReLU, linear, and ε is learned, unless the architecture is
// Plain.
func gin() models.Family {
	return models.Family{
		Name: GIN, Widths: models.OneLayer, TakesPlain: true, Reach: reach, Prepare: models.SumNeighbours,
		Parameters: func(a models.Architecture, l *layers.Layout) {
			in := a.Features
			for i, out := range []int{a.Widths[0], a.Classes} {
				ginParameters(l, models.Convolution(i), []int{in, a.Widths[0], out}, a.Plain)
				in = out
			}
		},
		Buffers: func(a models.Architecture, l *layers.Layout) {
			for i := range 2 {
				if !a.Plain {
					l.RunningNorm(models.Convolution(i)+".nn.1", a.Widths[0])
				}
			}
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Features
			for i := range 2 {
				conv := models.Convolution(i)
				x = ginFirst(n, x, conv, i == 0)
				second := ".nn.2"
				if !n.Architecture.Plain {
					x, second = n.Norm(x, conv+".nn.1"), ".nn.3"
				}
				x = n.Linear(layers.ReLU(n.Builder, x), conv+second)
				if i == 0 {
					x = n.Mark("act1", layers.ReLU(n.Builder, n.Mark(conv, x)))
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
func ginFirst(n *models.Network, x *gorgonia.Node, conv string, first bool) *gorgonia.Node {
	if n.Architecture.Plain {
		return n.GINFirst(x, n.Input("eps", []float32{0}, false, 1), conv, first)
	}
	return n.GINFirst(x, n.Parameter(conv+".eps"), conv, first)
}

// EllipticGINMLP3 follows the paper's text on the Elliptic data: three linear layers with batch norms
// inside each convolution instead of two without.
const EllipticGINMLP3 = "elliptic-gin-mlp3"

// ellipticGINMLP3 is three GIN convolutions linear-norm-ReLU-linear-norm-ReLU-
// linear, ReLU after each, then fc1, ReLU and fc2.
func ellipticGINMLP3() models.Family {
	f, _ := models.Served().Of(models.EllipticGIN)
	f.Name = EllipticGINMLP3
	f.Parameters = func(a models.Architecture, l *layers.Layout) {
		in := a.Features
		for i, width := range a.Widths[:models.Convolutions] {
			ginParameters(l, models.Convolution(i), []int{in, width, width, width}, false)
			in = width
		}
		last := a.Widths[models.Convolutions]
		l.Linear("fc1", in, last)
		l.Linear("fc2", last, a.Classes)
		models.SkipParameters(a, l)
	}
	f.Buffers = func(a models.Architecture, l *layers.Layout) {
		for i, width := range a.Widths[:models.Convolutions] {
			l.RunningNorm(models.Convolution(i)+".nn.1", width)
			l.RunningNorm(models.Convolution(i)+".nn.4", width)
		}
	}
	f.Logits = func(n *models.Network) *gorgonia.Node {
		x := n.Features
		for i := range models.Convolutions {
			conv := models.Convolution(i)
			x = layers.ReLU(n.Builder, n.Norm(ginFirst(n, x, conv, i == 0), conv+".nn.1"))
			x = layers.ReLU(n.Builder, n.Norm(n.Linear(x, conv+".nn.3"), conv+".nn.4"))
			x = layers.ReLU(n.Builder, n.Mark(conv, n.Linear(x, conv+".nn.6")))
		}
		return n.Skip(n.Linear(n.Mark("fc1_relu", layers.ReLU(n.Builder, n.Linear(x, "fc1"))), "fc2"))
	}
	return f
}
