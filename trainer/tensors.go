package trainer

import (
	"fmt"

	"gorgonia.org/tensor"
)

// tensorSpec is the name and shape of one parameter or buffer, and where its
// values lie in the flat vector that holds all of them.
type tensorSpec struct {
	name  string
	shape []int
	start start
	from  int
	size  int
}

// start says how a tensor begins: at value, plus a uniform draw in ±bound.
type start struct{ value, bound float32 }

// layout orders tensors. The order is part of the checkpoint format.
type layout struct {
	specs []tensorSpec
	index map[string]int
	size  int
}

// add appends a tensor to the order.
func (l *layout) add(name string, begin start, shape ...int) {
	size := 1
	for _, n := range shape {
		size *= n
	}
	if l.index == nil {
		l.index = make(map[string]int)
	}
	l.index[name] = len(l.specs)
	l.specs = append(l.specs, tensorSpec{name: name, shape: shape, start: begin, from: l.size, size: size})
	l.size += size
}

// tensors is a flat vector of values under a layout.
type tensors struct {
	layout *layout
	values []float32
}

func newTensors(l *layout) *tensors {
	return &tensors{layout: l, values: make([]float32, l.size)}
}

// slice returns the values of tensor i. It aliases the vector.
func (t *tensors) slice(i int) []float32 {
	s := t.layout.specs[i]
	return t.values[s.from : s.from+s.size : s.from+s.size]
}

// named returns the values and the shape of a tensor, aliasing the vector.
func (t *tensors) named(name string) ([]float32, []int, error) {
	i, ok := t.layout.index[name]
	if !ok {
		return nil, nil, fmt.Errorf("model has no tensor %q", name)
	}
	return t.slice(i), t.layout.specs[i].shape, nil
}

// dense wraps values in the tensor type of Gorgonia without copying them.
func dense(values []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
}
