package trainer

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// model is the graph of the Elliptic GIN: three times GIN convolution, batch
// norm and ReLU, then fc1, batch norm, ReLU and fc2, plus the linear skip.
type model struct {
	*builder
	params, buffers *tensors
	// nodes holds the parameters' leaves in the order of the layout.
	nodes gorgonia.Nodes
	// marks names intermediate results as the reference vectors do.
	marks []mark
}

// mark is a named result of the forward pass.
type mark struct {
	name string
	node *gorgonia.Node
}

func newModel(b *builder, params, buffers *tensors) *model {
	m := &model{builder: b, params: params, buffers: buffers}
	for i, spec := range params.layout.specs {
		m.nodes = append(m.nodes, b.input(spec.name, dense(params.slice(i), spec.shape...), b.training))
	}
	return m
}

// parameter returns the leaf of a parameter, or nil if the model has none of
// that name.
func (m *model) parameter(name string) *gorgonia.Node {
	i, ok := m.params.layout.index[name]
	if !ok {
		return nil
	}
	return m.nodes[i]
}

// logits adds everything between the features and the logits.
func (m *model) logits(features *gorgonia.Node) *gorgonia.Node {
	x := features
	for i := range convolutions {
		conv := fmt.Sprintf("conv%d", i+1)
		x = m.ginSum(x, m.parameter(conv+".eps"), i == 0)
		x = m.relu(m.dense(x, conv+".nn.0"))
		x = m.mark(conv, m.dense(x, conv+".nn.2"))
		norm := fmt.Sprintf("batchnorm%d", i+1)
		x = m.relu(m.mark(norm, m.norm(x, norm)))
	}
	x = m.norm(m.dense(x, "fc1"), fmt.Sprintf("batchnorm%d", convolutions+1))
	x = m.dense(m.mark("fc1_bn_relu", m.relu(x)), "fc2")
	if m.parameter("skip.weight") != nil {
		x = m.sum(x, m.dense(features, "skip"))
	}
	return m.mark("logits", x)
}

// dense adds the named linear layer.
func (m *model) dense(x *gorgonia.Node, name string) *gorgonia.Node {
	return m.linear(x, m.parameter(name+".weight"), m.parameter(name+".bias"))
}

// norm adds the named batch norm.
func (m *model) norm(x *gorgonia.Node, name string) *gorgonia.Node {
	return m.batchNorm(x, &batchNorm{
		weight: m.parameter(name + ".weight"), bias: m.parameter(name + ".bias"),
		runningMean: m.buffer(name + ".running_mean"), runningVar: m.buffer(name + ".running_var"),
	})
}

// buffer returns the values of a buffer, which it aliases.
func (m *model) buffer(name string) []float32 {
	values, _, err := m.buffers.named(name)
	if err != nil && m.err == nil {
		m.err = err
	}
	return values
}

func (m *model) mark(name string, n *gorgonia.Node) *gorgonia.Node {
	m.marks = append(m.marks, mark{name: name, node: n})
	return n
}
