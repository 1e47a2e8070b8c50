package trainer

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// workspace is what the operators of a program work on besides their inputs.
// It is replaced slice by slice while the graph stays.
type workspace struct {
	kernels kernels.Set
	scratch kernels.Scratch
	batch   *batch
	// loss is the last cross entropy, in double precision.
	loss float64
	// failure is the first error of an operator in a run. Gorgonia's machine
	// returns it too, but in a form that errors.Is cannot see through.
	failure error
}

// builder assembles the expression graph of a program. The first failure
// sticks in err, so that layers read as formulas.
type builder struct {
	graph    *gorgonia.ExprGraph
	work     *workspace
	capacity int
	training bool
	// salt goes into every name; another salt gives every node another hash.
	salt  int
	count int
	// needs holds the nodes that a gradient must flow to.
	needs map[*gorgonia.Node]bool
	err   error
}

func newBuilder(kernels kernels.Set, capacity int, training bool, salt int) *builder {
	return &builder{
		graph:    gorgonia.NewGraph(),
		work:     &workspace{kernels: kernels},
		capacity: capacity,
		training: training,
		salt:     salt,
		needs:    make(map[*gorgonia.Node]bool),
	}
}

// unique returns a name that no other node of the graph has.
func (b *builder) unique(kind string) string {
	b.count++
	return fmt.Sprintf("%s/%d/%d", kind, b.salt, b.count)
}

// input adds a leaf that is bound to a tensor.
func (b *builder) input(kind string, value *tensor.Dense, needsGradient bool) *gorgonia.Node {
	shape := value.Shape()
	n := gorgonia.NewTensor(b.graph, tensor.Float32, shape.Dims(),
		gorgonia.WithShape(shape...), gorgonia.WithName(b.unique(kind)), gorgonia.WithValue(value))
	b.needs[n] = needsGradient
	return n
}

// rows returns a new result matrix with a row for every node of a slice.
func (b *builder) rows(cols int) *tensor.Dense {
	return dense(make([]float32, b.capacity*cols), b.capacity, cols)
}

// operation says what apply adds to the graph.
type operation struct {
	kind   string
	inputs gorgonia.Nodes
	out    gorgonia.Value
	run    func(in []gorgonia.Value) error
	// pull returns one gradient per input, nil where needs is false. It is nil
	// for the operations that gradients are made of.
	pull func(out, grad *gorgonia.Node) gorgonia.Nodes
}

// apply adds an operation's node to the graph.
func (b *builder) apply(o operation) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	op := &operator{
		name: b.unique(o.kind), inputs: o.inputs, out: o.out, work: b.work, run: o.run,
		kind: gorgonia.TypeOf(o.out), wrt: make([]bool, len(o.inputs)),
	}
	any := false
	if o.pull != nil {
		for i, n := range o.inputs {
			op.wrt[i] = b.needs[n]
			any = any || op.wrt[i]
		}
		op.pull = func(out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			grads := o.pull(out, grad)
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

// live returns the rows of a value that the current slice uses. What lies
// behind them is left over from other slices and is never read.
func (b *builder) live(v gorgonia.Value) kernels.Matrix {
	d := v.(*tensor.Dense)
	rows, cols := b.work.batch.rows, d.Shape()[1]
	return kernels.Matrix{Rows: rows, Cols: cols, Data: d.Float32s()[:rows*cols]}
}

// whole returns all of a matrix-shaped value, such as a weight.
func whole(v gorgonia.Value) kernels.Matrix {
	d := v.(*tensor.Dense)
	return kernels.Matrix{Rows: d.Shape()[0], Cols: d.Shape()[1], Data: d.Float32s()}
}
