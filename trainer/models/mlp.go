package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// mlp is two linear layers with ReLU between them, the model without a graph.
func mlp() family {
	return family{
		widths: 1,
		parameters: func(a Architecture, l *layers.Layout) {
			l.Linear("lin1", a.Features, a.Widths[0])
			l.Linear("lin2", a.Widths[0], a.Classes)
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.mark("lin1", n.linear(n.dropout(n.Features), "lin1"))
			return n.linear(n.dropout(n.ReLU(x)), "lin2")
		},
	}
}

// appnp is that with personalised propagation of the logits behind it.
func appnp() family {
	f := mlp()
	predict := f.logits
	f.logits = func(n *Network) *gorgonia.Node {
		a := n.Architecture
		return n.Propagate(n.mark("lin2", predict(n)), a.Hops, float32(a.Teleport))
	}
	return f
}
