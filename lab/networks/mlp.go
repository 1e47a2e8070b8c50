package networks

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/graphlayers"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// The model without a graph, and the same model followed by propagation.
const (
	MLP   = "mlp"
	APPNP = "appnp"
)

// mlp is two linear layers with ReLU between them, the model without a graph.
func mlp() models.Family {
	return models.Family{
		Name: MLP, Widths: models.OneLayer, TakesDropout: true,
		Reach: func(models.Architecture) int { return 0 },
		Parameters: func(a models.Architecture, l *layers.Layout) {
			l.Linear("lin1", a.Features, a.Widths[0])
			l.Linear("lin2", a.Widths[0], a.Classes)
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Mark("lin1", n.Linear(dropout(n, n.Features), "lin1"))
			return n.Linear(dropout(n, layers.ReLU(n.Builder, x)), "lin2")
		},
	}
}

// appnp is mlp followed by personalised propagation of the logits, with 10 hops and α .1.
func appnp() models.Family {
	f := mlp()
	f.Name, f.Sizes, f.Settings = APPNP, models.Architecture{Hops: 10, Teleport: 0.1}, models.Settings{Dropout: 0.5}
	f.Reach, f.Prepare = reachOfHops, derive
	predict := f.Logits
	f.Logits = func(n *models.Network) *gorgonia.Node {
		a := n.Architecture
		return graphlayers.Propagate(n.Builder, n.Mark("lin2", predict(n)), a.Hops, float32(a.Teleport))
	}
	return f
}
