package trainer

import (
	"cmp"
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe/trainer/kernels"
)

// compileAttempts bounds the search for names without a hash collision.
const compileAttempts = 8

// program is a compiled model with all of its memory. It serves every graph of
// at most capacity rows: the operators work on the rows in use, so a program's
// past never shows in its results. A program must not be used from two
// goroutines.
type program struct {
	shape           programShape
	work            *workspace
	params, buffers *tensors
	// gradients holds a result per parameter, in the order of the layout, and
	// then that of the features if it was asked for.
	gradients [][]float32
	features  *tensor.Dense
	logits    *tensor.Dense
	marks     []mark
	machine   gorgonia.VM
}

// programShape says what a program was compiled for.
type programShape struct {
	architecture architecture
	capacity     int
	training     bool
	// gradFeatures asks for the gradient of the features too.
	gradFeatures bool
}

// capacityFor rounds a number of rows up to a power of two, so that few
// programs serve graphs of many sizes.
func capacityFor(rows int) int {
	capacity := 32
	for capacity < rows {
		capacity *= 2
	}
	return capacity
}

// compile builds the graph, differentiates it if it is for training, and
// compiles it for Gorgonia's tape machine.
//
// Gorgonia merges nodes whose 32-bit hashes agree without comparing them. That
// would silently compute something else, so colliding names are salted anew.
func compile(shape programShape, kernels kernels.Set) (*program, error) {
	for salt := range compileAttempts {
		p, graph, err := assemble(shape, kernels, salt)
		if err != nil {
			return nil, fmt.Errorf("model of %d features for %d rows: %w", shape.architecture.features, shape.capacity, err)
		}
		if !distinct(graph) {
			continue
		}
		code, locations, err := gorgonia.Compile(graph)
		if err != nil {
			return nil, fmt.Errorf("compile model of %d features for %d rows: %w", shape.architecture.features, shape.capacity, err)
		}
		p.machine = gorgonia.NewTapeMachine(graph, gorgonia.WithPrecompiled(code, locations))
		return p, nil
	}
	return nil, errors.New("no names without a hash collision")
}

func distinct(graph *gorgonia.ExprGraph) bool {
	seen := make(map[uint32]bool)
	for _, n := range graph.AllNodes() {
		if seen[n.Hashcode()] {
			return false
		}
		seen[n.Hashcode()] = true
	}
	return true
}

func assemble(shape programShape, kernels kernels.Set, salt int) (*program, *gorgonia.ExprGraph, error) {
	b := newBuilder(kernels, shape.capacity, shape.training, salt)
	p := &program{
		shape:    shape,
		work:     b.work,
		params:   newTensors(shape.architecture.parameters()),
		buffers:  newTensors(shape.architecture.buffers()),
		features: b.rows(shape.architecture.features),
	}
	m := newModel(b, p.params, p.buffers)
	features := b.input("features", p.features, shape.gradFeatures)
	logits := m.logits(features)
	wrt := m.nodes
	if shape.gradFeatures {
		wrt = append(wrt[:len(wrt):len(wrt)], features)
	}
	if shape.training {
		grads := b.gradients(b.crossEntropy(logits), wrt)
		for i := range grads {
			p.gradients = append(p.gradients, floats(resultOf(grads[i])))
		}
	}
	if b.err != nil {
		return nil, nil, b.err
	}
	p.logits = resultOf(logits).(*tensor.Dense)
	p.marks = m.marks
	return p, b.graph, nil
}

// resultOf returns the memory that a node's operator writes to.
func resultOf(n *gorgonia.Node) gorgonia.Value { return n.Op().(*operator).out }

// gradients differentiates the loss, or nothing if building it failed. The
// leaf of the loss's own gradient is ours: the constant that gorgonia.Grad
// would share between all graphs is not safe for concurrent use.
func (b *builder) gradients(loss *gorgonia.Node, wrt gorgonia.Nodes) gorgonia.Nodes {
	if b.err != nil {
		return nil
	}
	one := gorgonia.NewScalar(b.graph, tensor.Float32,
		gorgonia.WithName(b.unique("one")), gorgonia.WithValue(float32(1)))
	grads, err := gorgonia.Backpropagate(gorgonia.Nodes{loss}, gorgonia.Nodes{one}, wrt)
	if err != nil {
		b.err = fmt.Errorf("differentiate: %w", err)
	}
	return grads
}

// load makes a batch the one that run works on.
func (p *program) load(b *batch) {
	p.work.batch = b
	copy(p.features.Float32s(), b.features)
}

// run computes the logits and, in a training program, loss and gradients. A
// training run also moves the batch norms' running statistics.
func (p *program) run() error {
	p.work.failure = nil
	p.machine.Reset()
	if err := p.machine.RunAll(); err != nil {
		return cmp.Or(p.work.failure, err)
	}
	return nil
}
