package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// The model without a graph, and the same model followed by propagation.
const (
	MLP   = "mlp"
	APPNP = "appnp"
)

// mlp is two linear layers with ReLU between them, the model without a graph.
func mlp() family {
	return family{
		name: MLP, widths: oneLayer, takesDropout: true,
		parameters: func(a Architecture, l *layers.Layout) {
			l.Linear("lin1", a.Features, a.Widths[0])
			l.Linear("lin2", a.Widths[0], a.Classes)
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.mark("lin1", n.linear(n.dropout(n.Features), "lin1"))
			return n.linear(n.dropout(layers.ReLU(n.Builder, x)), "lin2")
		},
	}
}

// appnp is mlp followed by personalised propagation of the logits, with 10 hops and α .1.
func appnp() family {
	f := mlp()
	f.name, f.sizes, f.settings = APPNP, Architecture{Hops: 10, Teleport: 0.1}, Settings{Dropout: 0.5}
	predict := f.logits
	f.logits = func(n *Network) *gorgonia.Node {
		a := n.Architecture
		return layers.Propagate(n.Builder, n.mark("lin2", predict(n)), a.Hops, float32(a.Teleport))
	}
	return f
}
