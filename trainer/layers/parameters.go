package layers

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"lethe"
)

// Spec is the name and shape of one parameter or buffer, and the range of its values in the flat
// vector.
type Spec struct {
	// Name is PyTorch's name, such as conv1.nn.0.weight.
	Name  string
	Shape []int
	// Transposed means that PyTorch stores the matrix with its axes swapped.
	Transposed bool
	Start      Start
	From, Size int
}

// Start is the initial value of a tensor's elements: Value plus a uniform draw in ±Bound.
type Start struct{ Value, Bound float32 }

// Layout is an ordered list of tensors. The order is part of the checkpoint format.
type Layout struct {
	Specs []Spec
	Size  int
	index map[string]int
}

// Add appends a tensor.
func (l *Layout) Add(name string, begin Start, shape ...int) {
	size := 1
	for _, n := range shape {
		size *= n
	}
	if l.index == nil {
		l.index = make(map[string]int)
	}
	l.index[name] = len(l.Specs)
	l.Specs = append(l.Specs, Spec{Name: name, Shape: shape, Start: begin, From: l.Size, Size: size})
	l.Size += size
}

// Linear adds weight and bias of a linear layer with PyTorch's initialisation: uniform in
// ±1/sqrt(in) for both.
func (l *Layout) Linear(name string, in, out int) {
	l.Matrix(name+".weight", in, out, FanIn(in))
	l.Add(name+".bias", FanIn(in), out)
}

// Matrix adds the weight of a linear layer.
func (l *Layout) Matrix(name string, in, out int, begin Start) {
	l.Add(name, begin, in, out)
	l.Specs[len(l.Specs)-1].Transposed = true
}

// Norm adds a batch norm, initialised as the identity.
func (l *Layout) Norm(name string, width int) {
	l.Add(name+".weight", Start{Value: 1}, width)
	l.Add(name+".bias", Start{}, width)
}

// RunningNorm adds a batch norm's running statistics.
func (l *Layout) RunningNorm(name string, width int) {
	l.Add(name+".running_mean", Start{}, width)
	l.Add(name+".running_var", Start{Value: 1}, width)
}

// FanIn is PyTorch's initialisation of a linear layer: uniform in ±1/sqrt(in).
func FanIn(in int) Start { return Start{Bound: float32(1 / math.Sqrt(float64(in)))} }

// Index returns the position of a tensor in Specs.
func (l *Layout) Index(name string) (int, bool) {
	i, ok := l.index[name]
	return i, ok
}

// Fresh returns the initial tensors. Each drawn value is keyed only by seed, shard, tensor and
// element.
func (l *Layout) Fresh(seed uint64, shard lethe.ShardID) *Tensors {
	t := NewTensors(l)
	for i, spec := range l.Specs {
		tensor := lethe.NewDraw(seed, "init", uint64(shard), uint64(i))
		for e := range spec.Size {
			v := spec.Start.Value
			if spec.Start.Bound > 0 {
				element := tensor.At(uint64(e))
				u := element.Float32()
				v += float32((2*u - 1) * spec.Start.Bound)
			}
			t.Values[spec.From+e] = v
		}
	}
	return t
}

// TorchShape returns the tensor's shape in PyTorch.
func (s Spec) TorchShape() []int {
	if s.Transposed {
		return []int{s.Shape[1], s.Shape[0]}
	}
	return s.Shape
}

// ToTorch returns a copy of the tensor's values in PyTorch's order.
func (s Spec) ToTorch(values []float32) []float32 {
	out := slices.Clone(values)
	if !s.Transposed {
		return out
	}
	for i := range s.Shape[0] {
		for j := range s.Shape[1] {
			out[j*s.Shape[0]+i] = values[i*s.Shape[1]+j]
		}
	}
	return out
}

// Tensors is a flat vector of values under a layout.
type Tensors struct {
	Layout *Layout
	Values []float32
}

// NewTensors returns tensors of zeros.
func NewTensors(l *Layout) *Tensors { return &Tensors{Layout: l, Values: make([]float32, l.Size)} }

// Slice returns the values of tensor i. It aliases the vector.
func (t *Tensors) Slice(i int) []float32 {
	s := t.Layout.Specs[i]
	return t.Values[s.From : s.From+s.Size : s.From+s.Size]
}

// Named returns the values of a tensor, aliasing the vector.
func (t *Tensors) Named(name string) ([]float32, Spec, error) {
	i, ok := t.Layout.Index(name)
	if !ok {
		return nil, Spec{}, fmt.Errorf("model has no tensor %q", name)
	}
	return t.Slice(i), t.Layout.Specs[i], nil
}

// Dense wraps values in the tensor type of Gorgonia without copying them.
func Dense(values []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
}
