package layers

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// Builder assembles the expression graph of a program, differentiates it and plans its operators.
// Layers are functions that add to it. It keeps the first error, so that models read as formulas;
// Err returns it.
type Builder struct {
	// Training means that batch norms use statistics of the batch, and that dropout and attention
	// losses are active.
	Training bool
	Work     *Workspace

	graph    *gorgonia.ExprGraph
	capacity int
	// count numbers node names, operators numbers operators.
	count, operators int
	// sites counts the layers that draw, so that each has a key of its own.
	sites uint64
	// needs holds the nodes that need a gradient, terms the gradients from their uses.
	needs map[*gorgonia.Node]bool
	terms map[*gorgonia.Node]gorgonia.Nodes
	// perRow holds the results with a row for every node of a batch.
	perRow map[gorgonia.Value]bool
	// passing holds the results of which only one band is stored.
	passing map[gorgonia.Value]bool
	// sources holds the nodes that represent the features of a batch.
	sources map[*gorgonia.Node]source
	err     error
}

// Workspace is the data of a program's operators besides their inputs. It is replaced for each
// batch, while the graph stays.
type Workspace struct {
	Batch *Batch
	// Key is the key of the step's random draws.
	Key uint64
	// Loss is the last cross entropy, Attention the weighted sum of the attention losses, both in
	// double precision.
	Loss, Attention float64
	// Replace is nil except in comparisons with other programs.
	Replace *Replacement

	kernels kernels.Set
	scratch kernels.Scratch
	band    span
}

// NewBuilder returns a builder for batches of at most capacity rows.
func NewBuilder(set kernels.Set, capacity int, training bool) *Builder {
	return &Builder{
		Training: training,
		Work:     &Workspace{kernels: set},
		graph:    gorgonia.NewGraph(),
		capacity: capacity,
		needs:    make(map[*gorgonia.Node]bool),
		perRow:   make(map[gorgonia.Value]bool),
		passing:  make(map[gorgonia.Value]bool),
		sources:  make(map[*gorgonia.Node]source),
	}
}

// Err returns the first error.
func (b *Builder) Err() error { return b.err }

// unique returns an unused node name.
func (b *Builder) unique(kind string) string {
	b.count++
	return fmt.Sprintf("%s/%d", kind, b.count)
}

// Input adds a leaf bound to values, which it aliases.
func (b *Builder) Input(kind string, values []float32, needsGradient bool, shape ...int) *gorgonia.Node {
	n := gorgonia.NewTensor(b.graph, tensor.Float32, len(shape),
		gorgonia.WithShape(shape...), gorgonia.WithName(b.unique(kind)), gorgonia.WithValue(dense(values, shape...)))
	b.needs[n] = needsGradient
	return n
}

// rows returns a new result matrix with a row for every node of a batch.
func (b *Builder) rows(cols int) *tensor.Dense {
	out := dense(make([]float32, b.capacity*cols), b.capacity, cols)
	b.perRow[out] = true
	return out
}

// operation describes a node for apply.
type operation struct {
	kind   string
	inputs gorgonia.Nodes
	out    gorgonia.Value
	reads  reads
	run    func(in []gorgonia.Value) error
	// pull returns one gradient per input, nil where needs is false. It is nil for operations that
	// compute gradients.
	pull func(out, grad *gorgonia.Node) gorgonia.Nodes
}

// apply adds an operation's node to the graph.
func (b *Builder) apply(o operation) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	b.operators++
	op := &operator{
		name: b.unique(o.kind), number: uint32(b.operators), inputs: o.inputs, out: o.out, run: o.run,
		reads: o.reads, kind: gorgonia.TypeOf(o.out), wrt: make([]bool, len(o.inputs)),
	}
	any := false
	if o.pull != nil {
		for i, n := range o.inputs {
			op.wrt[i] = b.needs[n]
			any = any || op.wrt[i]
		}
		op.pull = func(out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			if !b.isSum(grad, b.terms[out]) {
				return nil, errMerged
			}
			grads := o.pull(out, grad)
			for i, n := range o.inputs {
				if op.wrt[i] {
					b.terms[n] = append(b.terms[n], grads[i])
				}
			}
			return grads, b.err
		}
	}
	n, err := gorgonia.ApplyOp(op, o.inputs...)
	if err != nil {
		b.err = fmt.Errorf("operator %s: %w", o.kind, err)
		return nil
	}
	b.needs[n] = any
	return n
}

// width returns the number of columns of a node's value.
func width(n *gorgonia.Node) int { return n.Shape()[1] }

// whole returns all of a matrix-shaped value, such as a weight.
func whole(v gorgonia.Value) kernels.Matrix {
	d := v.(*tensor.Dense)
	return kernels.Matrix{Rows: d.Shape()[0], Cols: d.Shape()[1], Data: d.Float32s()}
}
