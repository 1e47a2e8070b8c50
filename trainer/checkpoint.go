package trainer

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/trainer/models"
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

	// Model names what was trained. If it is one of Models, Network is its state
	// and Body is empty; otherwise Body is the state of a model of another kind,
	// which this package stores and does not read.
	Model string
	Network
	Body []byte

	// Aggregation is not touched by this package: what the ensemble weighs the
	// shard by.
	Aggregation []byte
}

// Network is the state of a graph neural network.
type Network struct {
	// Architecture is what the shapes depend on.
	Architecture models.Architecture
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
}

// check tells whether the checkpoint is that of a network whose vectors have the
// lengths that the shapes ask for.
func (c *Checkpoint) check() error {
	if !slices.Contains(Models(), c.Model) {
		return fmt.Errorf("model %q is no network: want one of %q", c.Model, Models())
	}
	if err := c.Architecture.Validate(); err != nil {
		return err
	}
	return c.fits(c.Architecture.Parameters().Size, c.Architecture.Buffers().Size)
}

// fits tells whether the checkpoint of a valid architecture is that of a network of so many parameters and buffers.
func (c *Checkpoint) fits(params, buffers int) error {
	if c.Architecture.Model != c.Model {
		return fmt.Errorf("model %q has the architecture of %q", c.Model, c.Architecture.Model)
	}
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

// clone returns a checkpoint that shares no memory with c.
func (c *Checkpoint) clone() *Checkpoint {
	out := *c
	out.Architecture.Widths = slices.Clone(c.Architecture.Widths)
	out.Params = slices.Clone(c.Params)
	out.Buffers = slices.Clone(c.Buffers)
	out.FirstMoment = slices.Clone(c.FirstMoment)
	out.SecondMoment = slices.Clone(c.SecondMoment)
	out.Body = slices.Clone(c.Body)
	out.Aggregation = slices.Clone(c.Aggregation)
	return &out
}
