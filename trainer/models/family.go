package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// family says how a model is built, and what a configuration may ask of it.
type family struct {
	name string
	// served tells whether a service may train it, which takes two classes.
	served bool
	// widths returns the widths of the hidden layers for a hidden width, and sizes
	// holds the other default ones.
	widths func(hidden int) []int
	sizes  Architecture
	// settings are the default ones. attention tells whether layers have heads, and
	// the others whether the architecture may have what they name, and whether
	// there may be dropout.
	settings                                       Settings
	attention, takesDropout, takesSkip, takesPlain bool
	// aggregation is what the first layer makes of the features by the graph
	// alone, if it can be made beforehand. prepared tells that it always is, over
	// all hops.
	aggregation layers.Aggregation
	prepared    bool
	parameters  func(a Architecture, l *layers.Layout)
	// buffers is nil for a model without batch norm.
	buffers func(a Architecture, l *layers.Layout)
	logits  func(n *Network) *gorgonia.Node
}

// families lists the models: a new one is added here, in a file of its own.
func families() []family {
	return []family{
		ellipticGIN(), ellipticGINMLP3(), sage(), gin(), gcn(), mlp(), gat(), gatv2(), superGAT(), appnp(), sgc(),
	}
}

// oneLayer is one hidden layer.
func oneLayer(hidden int) []int { return []int{hidden} }

// familyOf returns the family of a name, and whether there is one.
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

// Known reports whether there is a model of that name.
func Known(model string) bool {
	_, ok := familyOf(model)
	return ok
}

// SumsNeighbours tells whether a model adds its neighbours up instead of
// averaging them, so that their number counts.
func SumsNeighbours(model string) bool {
	f, _ := familyOf(model)
	return f.aggregation == layers.NeighbourSum
}

// DefaultSettings returns the settings of a model that PyTorch Geometric's
// benchmarks have.
func DefaultSettings(model string) Settings {
	f, _ := familyOf(model)
	return f.settings
}

// TakesDropout reports whether a model has dropout in front of its layers.
func TakesDropout(model string) bool {
	f, _ := familyOf(model)
	return f.takesDropout
}

// TakesSkip reports whether a model may have the linear skip.
func TakesSkip(model string) bool {
	f, _ := familyOf(model)
	return f.takesSkip
}
