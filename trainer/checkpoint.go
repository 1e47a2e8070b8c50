package trainer

import (
	"fmt"
	"slices"

	"lethe"
)

// Checkpoint is a shard model's full state after a timestep: everything that
// training goes on from. Treat it as read-only once it was returned.
type Checkpoint struct {
	Shard    lethe.ShardID
	Timestep lethe.Timestep
	// Lineage is the chain of slice digests that the weights stand for.
	Lineage lethe.Digest
	// Options is the fingerprint of the options it was trained under.
	Options lethe.Digest
	// Kernels names the kernel set whose arithmetic made it.
	Kernels string

	// Model is one of Models. FeatureCount, Classes, Widths and LinearSkip are
	// what its shapes depend on.
	Model        string
	FeatureCount int
	Classes      int
	Widths       []int
	LinearSkip   bool

	// Steps counts the optimiser's steps, Batches the batches that the batch
	// norms saw.
	Steps   uint64
	Batches uint64
	// Params and Buffers hold all parameters and all running statistics of the
	// batch norms in the order of the model's layout.
	Params  []float32
	Buffers []float32
	// FirstMoment and SecondMoment are Adam's m and v, ordered like Params.
	FirstMoment  []float32
	SecondMoment []float32

	// Aggregation is not touched by this package: what the ensemble weighs the
	// shard by.
	Aggregation []byte
}

// architecture returns the shapes, or an error for widths that no model has.
func (c *Checkpoint) architecture() (architecture, error) {
	if !slices.Contains(Models(), c.Model) {
		return architecture{}, fmt.Errorf("model %q is none of %q", c.Model, Models())
	}
	if c.Classes < 2 || c.Classes > maxClasses {
		return architecture{}, fmt.Errorf("%d classes, want 2 to %d", c.Classes, maxClasses)
	}
	if len(c.Widths) != hiddenLayers {
		return architecture{}, fmt.Errorf("%d widths, want %d", len(c.Widths), hiddenLayers)
	}
	for _, n := range append(slices.Clone(c.Widths), c.FeatureCount) {
		if n < 1 || n > maxWidth {
			return architecture{}, fmt.Errorf("width %d, want 1 to %d", n, maxWidth)
		}
	}
	return architecture{features: c.FeatureCount, classes: c.Classes, widths: [hiddenLayers]int(c.Widths), linearSkip: c.LinearSkip}, nil
}

// check tells whether the vectors have the lengths that the shapes ask for.
func (c *Checkpoint) check() error {
	a, err := c.architecture()
	if err != nil {
		return err
	}
	params, buffers := a.parameters().size, a.buffers().size
	for _, v := range []struct {
		name string
		got  int
		want int
	}{
		{"parameters", len(c.Params), params}, {"buffers", len(c.Buffers), buffers},
		{"first moments", len(c.FirstMoment), params}, {"second moments", len(c.SecondMoment), params},
	} {
		if v.got != v.want {
			return fmt.Errorf("%d %s, want %d", v.got, v.name, v.want)
		}
	}
	return nil
}

// Parameter returns a copy of the named parameter, row-major, and its shape.
// Names are PyTorch's, such as conv1.nn.0.weight with shape [out, in], or
// skip.weight.
func (c *Checkpoint) Parameter(name string) (values []float32, shape []int, err error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	a, err := c.architecture()
	if err != nil {
		return nil, nil, err
	}
	all := tensors{layout: a.parameters(), values: c.Params}
	found, shape, err := all.named(name)
	return slices.Clone(found), slices.Clone(shape), err
}

// clone returns a checkpoint that shares no memory with c.
func (c *Checkpoint) clone() *Checkpoint {
	out := *c
	out.Widths = slices.Clone(c.Widths)
	out.Params = slices.Clone(c.Params)
	out.Buffers = slices.Clone(c.Buffers)
	out.FirstMoment = slices.Clone(c.FirstMoment)
	out.SecondMoment = slices.Clone(c.SecondMoment)
	out.Aggregation = slices.Clone(c.Aggregation)
	return &out
}
