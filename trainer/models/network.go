package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// Settings are the training parameters besides the architecture.
type Settings struct {
	// Dropout is the probability of dropping an input of a layer (TakesDropout) or an attention
	// weight.
	Dropout float64
	// AttentionLoss is the weight of an attention loss.
	AttentionLoss float64
	// EdgeRatio is the share of edges that the loss samples, and NegativeRatio the number of
	// non-adjacent pairs per sampled edge.
	EdgeRatio, NegativeRatio float64
}

// Form is the form in which features enter the first layer. All forms compute the same function.
type Form int

// The forms.
const (
	// Sparse multiplies the features by weights before aggregating: for sparse features, and for
	// features that dropout changes at every step.
	Sparse Form = iota
	// Cached uses the aggregate that Family.Prepare computed once.
	Cached
	// Differentiable makes the features a leaf with a gradient.
	Differentiable
)

// FormFor returns the form for features.
func FormFor(sparse bool, dropout float64) Form {
	if sparse || dropout > 0 {
		return Sparse
	}
	return Cached
}

// Network is the expression graph of a model.
type Network struct {
	*layers.Builder
	Architecture Architecture
	Settings     Settings
	Form         Form

	// Params and Buffers are the tensors of Families.Tensors.
	Params, Buffers *layers.Tensors
	// Features is the leaf of the features.
	Features *gorgonia.Node
	// Nodes holds the parameters' leaves in the order of the layout.
	Nodes gorgonia.Nodes
	// Marks names intermediate results as in the reference vectors.
	Marks map[string]*gorgonia.Node
	// Logits is rows × classes.
	Logits *gorgonia.Node

	leaf []float32
	err  error
}

// NewNetwork adds a network to a builder of the given capacity in rows. Its parameters and buffers
// are zeros.
func (f Families) NewNetwork(b *layers.Builder, a Architecture, s Settings, form Form, capacity int) (*Network, error) {
	if err := f.Validate(a); err != nil {
		return nil, err
	}
	family, _ := f.Of(a.Model)
	parameters, buffers := f.Tensors(a)
	n := &Network{
		Builder: b, Architecture: a, Settings: s, Form: form,
		Params: layers.NewTensors(parameters), Buffers: layers.NewTensors(buffers),
		Marks: make(map[string]*gorgonia.Node),
	}
	for i, spec := range n.Params.Layout.Specs {
		n.Nodes = append(n.Nodes, b.Input(spec.Name, n.Params.Slice(i), b.Training, spec.Shape...))
	}
	if form == Differentiable {
		n.leaf = make([]float32, capacity*a.Features)
		n.Features = b.Input("features", n.leaf, true, capacity, a.Features)
	} else {
		n.Features = b.Source(a.Features)
	}
	n.Logits = n.Mark("logits", family.Logits(n))
	if n.err != nil {
		return nil, n.err
	}
	return n, b.Err()
}

// Load sets the batch of the following runs.
func (n *Network) Load(b *layers.Batch) {
	n.Work.Batch = b
	if n.Form == Differentiable {
		copy(n.leaf, b.Features.Dense.Data)
	}
}

// Parameter returns the leaf of a parameter.
func (n *Network) Parameter(name string) *gorgonia.Node {
	i, ok := n.Params.Layout.Index(name)
	if !ok {
		if n.err == nil {
			n.err = fmt.Errorf("model has no parameter %q", name)
		}
		return nil
	}
	return n.Nodes[i]
}

// Linear adds the named linear layer with bias.
func (n *Network) Linear(x *gorgonia.Node, name string) *gorgonia.Node {
	return layers.Linear(n.Builder, x, n.Parameter(name+".weight"), n.Parameter(name+".bias"))
}

// Norm adds the named batch norm.
func (n *Network) Norm(x *gorgonia.Node, name string) *gorgonia.Node {
	return layers.Norm(n.Builder, x, &layers.BatchNorm{
		Weight: n.Parameter(name + ".weight"), Bias: n.Parameter(name + ".bias"),
		RunningMean: n.buffer(name + ".running_mean"), RunningVar: n.buffer(name + ".running_var"),
	})
}

// buffer returns the values of a buffer, aliasing it.
func (n *Network) buffer(name string) []float32 {
	values, _, err := n.Buffers.Named(name)
	if err != nil && n.err == nil {
		n.err = err
	}
	return values
}

// Mark names an intermediate result.
func (n *Network) Mark(name string, x *gorgonia.Node) *gorgonia.Node {
	n.Marks[name] = x
	return x
}
