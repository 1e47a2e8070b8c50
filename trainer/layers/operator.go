package layers

import (
	"hash"
	"io"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operator is the only implementation of Gorgonia's Op and SDOp interfaces here; layers differ
// only in run and pull. An operator belongs to exactly one node and owns the memory of its
// result, so that a step allocates nothing.
type operator struct {
	// name and number are unique in the graph. Gorgonia considers two nodes equal if their hashes,
	// computed from names, and their numbers agree.
	name   string
	number uint32
	inputs gorgonia.Nodes
	// out is the result, bound once and overwritten by every run.
	out   gorgonia.Value
	reads Reads
	kind  hm.Type
	wrt   []bool
	run   func(in []gorgonia.Value) error
	// pull builds the nodes that turn the gradient of the result into those of
	// the inputs, nil for inputs that need none.
	pull func(out, grad *gorgonia.Node) (gorgonia.Nodes, error)
}

var _ gorgonia.SDOp = (*operator)(nil)

// Arity implements gorgonia.Op.
func (o *operator) Arity() int { return len(o.inputs) }

// Type implements gorgonia.Op. It returns a new value each time, because Gorgonia's type
// inference recycles its arguments.
func (o *operator) Type() hm.Type {
	types := make([]hm.Type, 0, len(o.inputs)+1)
	for _, n := range o.inputs {
		types = append(types, n.Type())
	}
	return hm.NewFnType(append(types, o.kind)...)
}

// InferShape implements gorgonia.Op.
func (o *operator) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return o.out.Shape().Clone(), nil
}

// Do implements gorgonia.Op.
func (o *operator) Do(in ...gorgonia.Value) (gorgonia.Value, error) { return o.out, o.run(in) }

// ReturnsPtr implements gorgonia.Op: the result is never copied.
func (o *operator) ReturnsPtr() bool { return true }

// CallsExtern implements gorgonia.Op: Gorgonia must not allocate the result.
func (o *operator) CallsExtern() bool { return false }

// OverwritesInput implements gorgonia.Op: no input is changed.
func (o *operator) OverwritesInput() int { return -1 }

// DiffWRT implements gorgonia.SDOp.
func (o *operator) DiffWRT(int) []bool { return o.wrt }

// SymDiff implements gorgonia.SDOp.
func (o *operator) SymDiff(_ gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	return o.pull(out, grad)
}

// WriteHash implements gorgonia.Op.
func (o *operator) WriteHash(h hash.Hash) { _, _ = io.WriteString(h, o.name) }

// Hashcode implements gorgonia.Op. Gorgonia considers operators with the same hash code equal.
func (o *operator) Hashcode() uint32 { return o.number }

// String implements gorgonia.Op.
func (o *operator) String() string { return o.name }

// Floats returns the values of a tensor of this package, aliasing it.
func Floats(v gorgonia.Value) []float32 { return v.(*tensor.Dense).Float32s() }
