package trainer

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/trainer/models"
)

// Checkpoint is a shard model's full state after a timestep: everything that further training
// needs. Treat it as read-only once returned.
type Checkpoint struct {
	Shard    lethe.ShardID
	Timestep lethe.Timestep
	// Lineage is the chain of digests of the slices that the weights were trained on.
	Lineage lethe.Digest
	// Options is the fingerprint of the training configuration.
	Options lethe.Digest
	// Kernels is the name of the kernel set that computed it.
	Kernels string

	// Model is the name of the trained model. Network is the state of a network, and Body is empty then;
	// Body is the state of a model of another kind.
	Model string
	Network
	Body []byte
}

// Network is the state of a graph neural network.
type Network struct {
	// Architecture determines the shapes.
	Architecture models.Architecture
	// Steps counts the optimiser's steps, Batches the batches seen by the batch norms.
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

// check reports whether the checkpoint is that of one of the networks with vectors of matching lengths.
func (c *Checkpoint) check(networks models.Families) error {
	if _, ok := networks.Of(c.Model); !ok {
		return fmt.Errorf("model %q is no network: want one of %q", c.Model, networks.Names())
	}
	if err := networks.Validate(c.Architecture); err != nil {
		return err
	}
	parameters, buffers := networks.Tensors(c.Architecture)
	return c.fits(parameters.Size, buffers.Size)
}

// fits reports whether the checkpoint of a valid architecture matches a network of so many parameters and buffers.
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
	return &out
}
