package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// family describes how a model is built, and which settings it supports.
type family struct {
	name string
	// served means that a service may train it, which requires two classes.
	served bool
	// widths returns the widths of the hidden layers for a hidden width; sizes holds the other
	// default sizes.
	widths func(hidden int) []int
	sizes  Architecture
	// settings are the default ones. attention means that layers have heads; the others mean that
	// the architecture may have the named option, takesDropout that dropout is allowed.
	settings                                       Settings
	attention, takesDropout, takesSkip, takesPlain bool
	// aggregation is the first layer's graph aggregation of the features, if it can be computed in
	// advance. prepared means that it always is, over all hops.
	aggregation layers.Aggregation
	prepared    bool
	parameters  func(a Architecture, l *layers.Layout)
	// buffers is nil for a model without batch norm.
	buffers func(a Architecture, l *layers.Layout)
	logits  func(n *Network) *gorgonia.Node
}

// families lists the models; a new model is added here, in a file of its own.
func families() []family {
	return []family{
		ellipticGIN(), ellipticGINMLP3(), sage(), gin(), gcn(), mlp(), gat(), gatv2(), superGAT(), appnp(), sgc(),
	}
}

// oneLayer is one hidden layer.
func oneLayer(hidden int) []int { return []int{hidden} }

// familyOf returns the family of a name, and whether it exists.
func familyOf(model string) (family, bool) {
	for _, f := range families() {
		if f.name == model {
			return f, true
		}
	}
	return family{}, false
}

// Names returns the names of all models.
func Names() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	return names
}

// Served returns the names of the models that a service may train.
func Served() []string {
	var names []string
	for _, f := range families() {
		if f.served {
			names = append(names, f.name)
		}
	}
	return names
}

// Known reports whether a model of that name exists.
func Known(model string) bool {
	_, ok := familyOf(model)
	return ok
}

// SumsNeighbours reports whether a model sums its neighbours instead of averaging them, so that
// their number matters.
func SumsNeighbours(model string) bool {
	f, _ := familyOf(model)
	return f.aggregation == layers.NeighbourSum
}

// DefaultSettings returns the settings of a model in PyTorch Geometric's benchmarks.
func DefaultSettings(model string) Settings {
	f, _ := familyOf(model)
	return f.settings
}

// TakesDropout reports whether a model has dropout before its layers.
func TakesDropout(model string) bool {
	f, _ := familyOf(model)
	return f.takesDropout
}

// TakesSkip reports whether a model may have the linear skip.
func TakesSkip(model string) bool {
	f, _ := familyOf(model)
	return f.takesSkip
}
