package networks

import (
	"math"

	"gorgonia.org/gorgonia"

	"lethe/lab/networks/graphlayers"
	"lethe/trainer"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// More lists the networks beyond those that a service may train.
func More() models.Families {
	return models.Families{ellipticGINMLP3(), sage(), gin(), gcn(), mlp(), gat(), gatv2(), superGAT(), appnp(), sgc()}
}

// Defaults returns the default configuration of a model, which may be one of More.
func Defaults(model string) trainer.Config { return trainer.DefaultsOf(model, More()...) }

// All lists all networks, those of a service first.
func All() models.Families { return append(models.Served(), More()...) }

// Names returns the names of all networks.
func Names() []string { return All().Names() }

// SumsNeighbours reports whether a network sums its neighbours instead of averaging them, so that
// their number matters.
func SumsNeighbours(model string) bool {
	return model == GIN || model == models.EllipticGIN || model == EllipticGINMLP3
}

// convolutions is the number of convolutions of the networks of the citation graphs.
const convolutions = 2

// reach is that of the convolutions.
func reach(models.Architecture) int { return convolutions }

// reachOfHops is one more than the hops: weights depend on the degrees of both ends, also at the border.
func reachOfHops(a models.Architecture) int { return a.Hops + 1 }

// derive is the models.Family.Prepare of networks whose layers need more of a graph.
func derive(_ models.Architecture, b *layers.Batch, _ models.Form, _ []float32, _ kernels.Set) {
	graphlayers.Derive(b)
}

// means has the neighbours' means of the features computed once.
func means(_ models.Architecture, b *layers.Batch, form models.Form, features []float32, set kernels.Set) {
	graphlayers.Derive(b)
	if form == models.Cached {
		graphlayers.AggregateMeans(b, features, set)
	}
}

// propagateOnce has the first propagation of the features computed once.
func propagateOnce(_ models.Architecture, b *layers.Batch, form models.Form, features []float32, set kernels.Set) {
	graphlayers.Derive(b)
	if form == models.Cached {
		graphlayers.AggregatePropagated(b, 1, features, set)
	}
}

// propagateAlways has the propagation of the features over all hops computed once, sparse or not.
func propagateAlways(a models.Architecture, b *layers.Batch, form models.Form, features []float32, set kernels.Set) {
	graphlayers.Derive(b)
	if form != models.Differentiable {
		graphlayers.AggregatePropagated(b, a.Hops, features, set)
	}
}

// dropout adds dropout with the network's probability.
func dropout(n *models.Network, x *gorgonia.Node) *gorgonia.Node {
	return graphlayers.Dropout(n.Builder, x, n.Settings.Dropout)
}

// glorot is uniform in ±sqrt(6/(a+b)) (Glorot and Bengio, AISTATS 2010).
func glorot(a, b int) layers.Start { return layers.Start{Bound: float32(math.Sqrt(6 / float64(a+b)))} }
