package trainer

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// program is a compiled model with all of its memory. It accepts every graph of at most capacity
// rows: operators process only the current rows, so earlier runs never affect results. It must
// not be used from two goroutines.
type program struct {
	*models.Network
	// key identifies the shape that it was compiled for.
	key  string
	plan *layers.Plan
	// gradients holds a result per parameter, in the order of the layout, followed by that of the
	// features if they have a gradient.
	gradients [][]float32
	// upstream is rows × classes in a program that explains: the weight of each logit in the output
	// whose gradient is computed, with respect to the features only.
	upstream []float32
	// update is the optimiser's current step, stored here to avoid allocations.
	update kernels.AdamStep
}

// programShape is the configuration of a compiled program.
type programShape struct {
	architecture models.Architecture
	settings     models.Settings
	form         models.Form
	capacity     int
	training     bool
	// explaining programs cannot train, and are Differentiable.
	explaining bool
}

// key identifies the shape.
func (s programShape) key() string { return fmt.Sprintf("%+v", s) }

// capacityFor rounds a number of rows up, so that a few programs cover graphs of many sizes:
// small numbers to a power of two, larger ones to a multiple of 512, where a power of two would
// waste up to half of the memory.
func capacityFor(rows int) int {
	const large = 512
	if rows > large {
		return (rows + large - 1) / large * large
	}
	capacity := 32
	for capacity < rows {
		capacity *= 2
	}
	return capacity
}

// sizeBytes is the approximate memory of the program.
func (p *program) sizeBytes() int {
	return p.plan.SizeBytes() + 4*(p.Params.Layout.Size+p.Buffers.Layout.Size)
}

// compile builds the graph, differentiates it for training, and plans its operators.
func compile(networks models.Families, shape programShape, set kernels.Set) (*program, error) {
	p, err := assemble(networks, shape, set)
	if err != nil {
		return nil, fmt.Errorf("%s of %d features for %d rows: %w",
			shape.architecture.Model, shape.architecture.Features, shape.capacity, err)
	}
	return p, nil
}

func assemble(networks models.Families, shape programShape, set kernels.Set) (*program, error) {
	b := layers.NewBuilder(set, shape.capacity, shape.training)
	n, err := networks.NewNetwork(b, shape.architecture, shape.settings, shape.form, shape.capacity)
	if err != nil {
		return nil, err
	}
	p := &program{Network: n, key: shape.key()}
	var grads gorgonia.Nodes
	if shape.training {
		wrt := n.Nodes
		if shape.form == models.Differentiable {
			wrt = append(wrt[:len(wrt):len(wrt)], n.Features)
		}
		grads = b.Gradients(layers.CrossEntropy(b, n.Logits), wrt)
	}
	if shape.explaining {
		classes := shape.architecture.Classes
		p.upstream = make([]float32, shape.capacity*classes)
		weights := b.Input("upstream", p.upstream, false, shape.capacity, classes)
		grads = b.GradientsOf(n.Logits, weights, gorgonia.Nodes{n.Features})
		p.plan, err = b.PlanFor(append(grads, n.Logits)...)
	} else {
		p.plan, err = b.Plan()
	}
	if err != nil {
		return nil, err
	}
	for _, g := range grads {
		p.gradients = append(p.gradients, layers.Result(g))
	}
	return p, nil
}

// run computes the logits and, in a training program, loss and gradients. A training run also
// updates the batch norms' running statistics.
func (p *program) run() error {
	p.Work.Attention = 0
	return p.plan.Run()
}

// loss is the loss of the last run, including attention losses.
func (p *program) loss() float64 { return p.Work.Loss + p.Work.Attention }
