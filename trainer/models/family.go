package models

import (
	"slices"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// Family describes how a network is built, and which settings it supports.
type Family struct {
	Name string
	// Widths returns the widths of the hidden layers for a hidden width; Sizes holds the other
	// default sizes.
	Widths func(hidden int) []int
	Sizes  Architecture
	// Settings are the default ones. Attention means that layers have heads; the others mean that
	// the architecture may have the named option, TakesDropout that dropout is allowed.
	Settings                                       Settings
	Attention, TakesDropout, TakesSkip, TakesPlain bool
	// Reach is the maximum distance, in payments, at which one transaction can influence the
	// logits for another. Removing transactions beyond it does not change the logits.
	Reach func(a Architecture) int
	// Prepare computes the inputs of layers in a batch that do not depend on the weights: Aggregated for the form Cached,
	// Derived for any. features are those of the batch. It is nil if there are none.
	Prepare    func(a Architecture, b *layers.Batch, form Form, features []float32, set kernels.Set)
	Parameters func(a Architecture, l *layers.Layout)
	// Buffers is nil for a network without batch norm.
	Buffers func(a Architecture, l *layers.Layout)
	Logits  func(n *Network) *gorgonia.Node
}

// Families are networks of different names.
type Families []Family

// Served returns the networks that a service may train.
func Served() Families { return Families{ellipticGIN()} }

// Names returns the names of the networks.
func (f Families) Names() []string {
	var names []string
	for _, one := range f {
		names = append(names, one.Name)
	}
	return names
}

// Of returns the network of a name, and whether it exists.
func (f Families) Of(model string) (Family, bool) {
	i := slices.IndexFunc(f, func(one Family) bool { return one.Name == model })
	if i < 0 {
		return Family{Widths: OneLayer}, false
	}
	return f[i], true
}

// OneLayer is one hidden layer.
func OneLayer(hidden int) []int { return []int{hidden} }

// Architecture returns the default sizes for a hidden width, 64 in the citation benchmarks.
func (f Family) Architecture(hidden int) Architecture {
	a := f.Sizes
	a.Model, a.Widths = f.Name, f.Widths(hidden)
	return a
}

// Tensors returns the layouts of the trained tensors and of the batch norms' running statistics of a
// valid architecture.
func (f Families) Tensors(a Architecture) (parameters, buffers *layers.Layout) {
	family, _ := f.Of(a.Model)
	parameters, buffers = &layers.Layout{}, &layers.Layout{}
	family.Parameters(a, parameters)
	if family.Buffers != nil {
		family.Buffers(a, buffers)
	}
	return parameters, buffers
}

// Prepare has a batch prepared for an architecture, see Family.Prepare.
func (f Families) Prepare(a Architecture, b *layers.Batch, form Form, features []float32, set kernels.Set) {
	if family, _ := f.Of(a.Model); family.Prepare != nil {
		family.Prepare(a, b, form, features, set)
	}
}
