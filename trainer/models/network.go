package models

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// Settings are the training parameters besides the architecture.
type Settings struct {
	// Dropout is the probability of dropping an input of a layer (TakesDropout) or an attention
	// weight.
	Dropout float64
	// Attention is the attention loss of SuperGAT.
	Attention layers.SelfSupervision
}

// Form is the form in which features enter the first layer. All forms compute the same function.
type Form int

// The forms.
const (
	// Sparse multiplies the features by weights before aggregating: for sparse features, and for
	// features that dropout changes at every step.
	Sparse Form = iota
	// Cached uses the aggregate that Prepare computed once.
	Cached
	// Differentiable makes the features a leaf with a gradient.
	Differentiable
)

// FormFor returns the form for features.
func (a Architecture) FormFor(sparse bool, dropout float64) Form {
	if sparse || dropout > 0 {
		return Sparse
	}
	return Cached
}

// Prepare computes the batch's aggregate if the form needs it. features are those of the batch.
func (a Architecture) Prepare(b *layers.Batch, form Form, features []float32, set kernels.Set) {
	f, _ := familyOf(a.Model)
	hops := 1
	if f.prepared {
		form, hops = Cached, a.Hops
	}
	if form == Cached {
		b.Aggregate(f.aggregation, hops, features, set)
	}
}

// Network is the expression graph of a model.
type Network struct {
	*layers.Builder
	Architecture Architecture
	Settings     Settings
	Form         Form

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

// NewNetwork adds a model to a builder of the given capacity in rows. Its parameters and buffers
// are zeros.
func NewNetwork(b *layers.Builder, a Architecture, s Settings, form Form, capacity int) (*Network, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	n := &Network{
		Builder: b, Architecture: a, Settings: s, Form: form,
		Params: layers.NewTensors(a.Parameters()), Buffers: layers.NewTensors(a.Buffers()),
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
	f, _ := familyOf(a.Model)
	n.Logits = n.mark("logits", f.logits(n))
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

// parameter returns the leaf of a parameter.
func (n *Network) parameter(name string) *gorgonia.Node {
	i, ok := n.Params.Layout.Index(name)
	if !ok {
		if n.err == nil {
			n.err = fmt.Errorf("model has no parameter %q", name)
		}
		return nil
	}
	return n.Nodes[i]
}

// linear adds the named linear layer with bias.
func (n *Network) linear(x *gorgonia.Node, name string) *gorgonia.Node {
	return layers.Linear(n.Builder, x, n.parameter(name+".weight"), n.parameter(name+".bias"))
}

// norm adds the named batch norm.
func (n *Network) norm(x *gorgonia.Node, name string) *gorgonia.Node {
	return layers.Norm(n.Builder, x, &layers.BatchNorm{
		Weight: n.parameter(name + ".weight"), Bias: n.parameter(name + ".bias"),
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

// dropout adds dropout with the model's probability.
func (n *Network) dropout(x *gorgonia.Node) *gorgonia.Node {
	return layers.Dropout(n.Builder, x, n.Settings.Dropout)
}

func (n *Network) mark(name string, x *gorgonia.Node) *gorgonia.Node {
	n.Marks[name] = x
	return x
}
