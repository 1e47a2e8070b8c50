package trainer

import (
	"slices"

	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// Parameter returns a copy of the named parameter in PyTorch's order, and its
// shape there. Names are PyTorch Geometric's, such as conv1.nn.0.weight with
// shape [out, in], or skip.weight.
func (c *Checkpoint) Parameter(name string) (values []float32, shape []int, err error) {
	if err := c.check(models.Served()); err != nil {
		return nil, nil, err
	}
	parameters, _ := models.Served().Tensors(c.Architecture)
	all := layers.Tensors{Layout: parameters, Values: c.Params}
	found, spec, err := all.Named(name)
	if err != nil {
		return nil, nil, err
	}
	return spec.ToTorch(found), slices.Clone(spec.TorchShape()), nil
}

// fromTorch returns values in PyTorch's order as the tensor keeps them.
func fromTorch(s layers.Spec, values []float32) []float32 {
	s.Shape = s.TorchShape()
	return s.ToTorch(values)
}
