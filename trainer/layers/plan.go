package layers

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Plan runs the operators of a graph, each after its inputs. It replaces Gorgonia's tape machine,
// which starts a goroutine, resets its registers and rebinds every value at each step, with some
// hundred allocations.
type Plan struct {
	parts []part
	work  *Workspace
}

type planned struct {
	op *operator
	in []gorgonia.Value
}

// SizeBytes is the memory of the operators' results.
func (p *Plan) SizeBytes() int {
	size := 0
	for _, part := range p.parts {
		for _, s := range part.steps {
			size += int(s.op.out.MemSize())
		}
	}
	return size
}

// Gradients differentiates a scalar loss with respect to wrt. It creates the leaf of the loss's
// own gradient, because the constant that gorgonia.Grad would share between all graphs is not
// safe for concurrent use.
func (b *Builder) Gradients(loss *gorgonia.Node, wrt gorgonia.Nodes) gorgonia.Nodes {
	one := gorgonia.NewScalar(b.graph, tensor.Float32,
		gorgonia.WithName(b.unique("one")), gorgonia.WithValue(float32(1)))
	return b.GradientsOf(loss, one, wrt)
}

// GradientsOf differentiates the weighted sum of a matrix's entries with respect to wrt.
func (b *Builder) GradientsOf(output, weights *gorgonia.Node, wrt gorgonia.Nodes) gorgonia.Nodes {
	if b.err != nil {
		return nil
	}
	b.terms = map[*gorgonia.Node]gorgonia.Nodes{output: {weights}}
	grads, err := gorgonia.Backpropagate(gorgonia.Nodes{output}, gorgonia.Nodes{weights}, wrt)
	for i, g := range grads {
		if !b.isSum(g, b.terms[wrt[i]]) {
			err = errMerged
		}
	}
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("differentiate: %w", err)
	}
	return grads
}

// Plan orders the graph's operators. The order is a function of the graph alone.
func (b *Builder) Plan() (*Plan, error) { return b.plan(func(*gorgonia.Node) bool { return true }) }

// PlanFor is Plan with only the operators that the results need.
func (b *Builder) PlanFor(results ...*gorgonia.Node) (*Plan, error) {
	needed := make(map[*gorgonia.Node]bool)
	for open := results; len(open) > 0; {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if needed[n] {
			continue
		}
		needed[n] = true
		for at := b.graph.From(n.ID()); at.Next(); {
			open = append(open, at.Node().(*gorgonia.Node))
		}
	}
	return b.plan(func(n *gorgonia.Node) bool { return needed[n] })
}

func (b *Builder) plan(wanted func(*gorgonia.Node) bool) (*Plan, error) {
	if b.err != nil {
		return nil, b.err
	}
	sorted, err := gorgonia.Sort(b.graph)
	if err != nil {
		return nil, fmt.Errorf("order the operators: %w", err)
	}
	var steps []planned
	// Gorgonia's edges point from a result to its inputs.
	for i := len(sorted) - 1; i >= 0; i-- {
		n := sorted[i]
		if n.Op() == nil || !wanted(n) {
			continue
		}
		op, ok := n.Op().(*operator)
		if !ok {
			if op, err = b.sumOf(n); err != nil {
				return nil, err
			}
		}
		step := planned{op: op}
		for _, child := range op.inputs {
			step.in = append(step.in, valueOf(child))
		}
		steps = append(steps, step)
	}
	return &Plan{b.parts(steps), b.Work}, nil
}

// Run computes every value of the graph for the workspace's batch. It stops at
// the first error, such as ErrNoLabels.
func (p *Plan) Run() error {
	for i := range p.parts {
		if err := p.parts[i].run(p.work); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns the memory of a node: its operator's result, or the leaf's bound values.
func valueOf(n *gorgonia.Node) gorgonia.Value {
	if op, ok := n.Op().(*operator); ok {
		return op.out
	}
	return n.Value()
}

// Result returns the memory of a node's value, with as many rows as the capacity. In a plan
// without gradients, a value that only row-wise operators read holds just the last band of a
// batch with several bands.
func Result(n *gorgonia.Node) []float32 { return Floats(valueOf(n)) }
