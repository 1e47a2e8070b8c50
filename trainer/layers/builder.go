package layers

import (
	"cmp"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// Builder assembles the expression graph of a program, differentiates it and plans its operators.
// Layers are functions that add to it. It keeps the first error, so that models read as formulas;
// Err returns it. What cannot be added is a leaf of the same shape, to which layers may be added too.
type Builder struct {
	// Training means that batch norms use statistics of the batch, and that dropout and attention
	// losses are active.
	Training bool
	Work     *Workspace

	// Capacity is the largest number of rows of a batch.
	Capacity int
	// Sources holds the nodes that represent the features of a batch.
	Sources map[*gorgonia.Node]Source

	graph *gorgonia.ExprGraph
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
	Kernels         kernels.Set

	scratch kernels.Scratch
	band    span
}

// NewBuilder returns a builder for batches of at most capacity rows.
func NewBuilder(set kernels.Set, capacity int, training bool) *Builder {
	return &Builder{
		Training: training,
		Work:     &Workspace{Kernels: set},
		graph:    gorgonia.NewGraph(),
		Capacity: capacity,
		needs:    make(map[*gorgonia.Node]bool),
		perRow:   make(map[gorgonia.Value]bool),
		passing:  make(map[gorgonia.Value]bool),
		Sources:  make(map[*gorgonia.Node]Source),
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
		gorgonia.WithShape(shape...), gorgonia.WithName(b.unique(kind)), gorgonia.WithValue(Dense(values, shape...)))
	b.needs[n] = needsGradient
	return n
}

// Needs reports whether a node needs a gradient.
func (b *Builder) Needs(n *gorgonia.Node) bool { return b.needs[n] }

// Site returns the number of the next layer that draws, for the keys of its draws.
func (b *Builder) Site() uint64 {
	b.sites++
	return b.sites - 1
}

// NewRows returns a new result matrix with a row for every node of a batch.
func (b *Builder) NewRows(cols int) *tensor.Dense {
	out := Dense(make([]float32, b.Capacity*cols), b.Capacity, cols)
	b.perRow[out] = true
	return out
}

// Operation describes a node for Apply.
type Operation struct {
	Kind   string
	Inputs gorgonia.Nodes
	// Out is the memory of the result, of which Run fills the live rows.
	Out   gorgonia.Value
	Reads Reads
	Run   func(in []gorgonia.Value) error
	// Pull returns one gradient per input, nil where Needs is false. It is nil for operations that
	// compute gradients.
	Pull func(out, grad *gorgonia.Node) gorgonia.Nodes
}

// Apply adds an operation's node to the graph.
func (b *Builder) Apply(o Operation) *gorgonia.Node {
	b.operators++
	op := &operator{
		name: b.unique(o.Kind), number: uint32(b.operators), inputs: o.Inputs, out: o.Out, run: o.Run,
		reads: o.Reads, kind: gorgonia.TypeOf(o.Out), wrt: make([]bool, len(o.Inputs)),
	}
	any := false
	if o.Pull != nil {
		for i, n := range o.Inputs {
			op.wrt[i] = b.Needs(n)
			any = any || op.wrt[i]
		}
		op.pull = func(out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			if !b.isSum(grad, b.terms[out]) {
				return nil, errMerged
			}
			grads := o.Pull(out, grad)
			for i, n := range o.Inputs {
				if op.wrt[i] {
					b.terms[n] = append(b.terms[n], grads[i])
				}
			}
			return grads, b.err
		}
	}
	n, err := gorgonia.ApplyOp(op, o.Inputs...)
	if err != nil {
		b.err = cmp.Or(b.err, fmt.Errorf("operator %s: %w", o.Kind, err))
		return gorgonia.NodeFromAny(b.graph, o.Out, gorgonia.WithName(b.unique(o.Kind)))
	}
	b.needs[n] = any
	return n
}

// Width returns the number of columns of a node's value.
func Width(n *gorgonia.Node) int { return n.Shape()[1] }

// whole returns all of a matrix-shaped value, such as a weight.
func whole(v gorgonia.Value) kernels.Matrix {
	d := v.(*tensor.Dense)
	return kernels.Matrix{Rows: d.Shape()[0], Cols: d.Shape()[1], Data: d.Float32s()}
}
