package layers

import (
	"errors"
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// errMerged means that Gorgonia merged two additions of gradients. It compares the operators of
// nodes whose 32-bit hashes agree, but not their inputs, and all additions have the same
// operator. Operators of this package differ by their number.
var errMerged = errors.New("two sums of gradients have one hash in Gorgonia's graph")

// sumOf returns the operator for a node that Gorgonia created: if a value is used several times,
// it adds the gradients in sequence, in an order that is a function of the graph.
func (b *Builder) sumOf(n *gorgonia.Node) (*operator, error) {
	terms := b.inputsOf(n)
	op, ok := n.Op().(gorgonia.BinaryOp)
	if !ok || !op.IsBinary() || !strings.HasPrefix(op.String(), "+ ") || len(terms) != 2 {
		return nil, fmt.Errorf("operator %v is not one of this package's and no sum of gradients", n.Op())
	}
	first, ok := valueOf(terms[0]).(*tensor.Dense)
	if !ok || !terms[0].Shape().Eq(terms[1].Shape()) {
		return nil, fmt.Errorf("sum of gradients of shapes %v and %v", terms[0].Shape(), terms[1].Shape())
	}
	out := Dense(make([]float32, first.Shape().TotalSize()), first.Shape()...)
	all := func(v gorgonia.Value) kernels.Matrix {
		values := Floats(v)
		return kernels.Matrix{Rows: 1, Cols: len(values), Data: values}
	}
	if b.perRow[first] || b.perRow[valueOf(terms[1])] {
		b.perRow[out], all = true, b.Live
	}
	run := func(in []gorgonia.Value) error {
		b.Work.Kernels.Rows.AddRows(all(out), all(in[0]), all(in[1]))
		return nil
	}
	if err := gorgonia.UnsafeLet(n, out); err != nil {
		return nil, fmt.Errorf("bind a sum of gradients: %w", err)
	}
	return &operator{inputs: terms, out: out, run: run}, nil
}

// inputsOf returns the nodes that a node is computed from.
func (b *Builder) inputsOf(n *gorgonia.Node) gorgonia.Nodes {
	var inputs gorgonia.Nodes
	for from := b.graph.From(n.ID()); from.Next(); {
		inputs = append(inputs, from.Node().(*gorgonia.Node))
	}
	return inputs
}

// isSum reports whether a node is the sum of the terms, added in sequence.
func (b *Builder) isSum(n *gorgonia.Node, terms gorgonia.Nodes) bool {
	last := len(terms) - 1
	if last <= 0 {
		return last == 0 && n == terms[0]
	}
	inputs := b.inputsOf(n)
	return len(inputs) == 2 && inputs[1] == terms[last] && b.isSum(inputs[0], terms[:last])
}
