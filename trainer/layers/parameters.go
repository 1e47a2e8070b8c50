package layers

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"lethe"
)

// Spec is the name and shape of one parameter or buffer, and where its values
// lie in the flat vector that holds all of them.
type Spec struct {
	// Name is PyTorch's, such as conv1.nn.0.weight.
	Name  string
	Shape []int
	// Transposed says that PyTorch keeps the matrix with its axes swapped.
	Transposed bool
	Start      Start
	From, Size int
}

// Start says how a tensor begins: at Value, plus a uniform draw in ±Bound.
type Start struct{ Value, Bound float32 }

// Layout orders tensors. The order is part of the checkpoint format.
type Layout struct {
	Specs []Spec
	Size  int
	index map[string]int
}

// Add appends a tensor to the order.
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

// Linear adds weight and bias of a linear layer, which start as PyTorch's do:
// uniform in ±1/sqrt(in), both alike.
func (l *Layout) Linear(name string, in, out int) {
	l.Matrix(name+".weight", in, out, fanIn(in))
	l.Add(name+".bias", fanIn(in), out)
}

// Matrix adds the weight of a linear layer.
func (l *Layout) Matrix(name string, in, out int, begin Start) {
	l.Add(name, begin, in, out)
	l.Specs[len(l.Specs)-1].Transposed = true
}

// Norm adds a batch norm, which starts as the identity.
func (l *Layout) Norm(name string, width int) {
	l.Add(name+".weight", Start{Value: 1}, width)
	l.Add(name+".bias", Start{}, width)
}

// RunningNorm adds a batch norm's running statistics.
func (l *Layout) RunningNorm(name string, width int) {
	l.Add(name+".running_mean", Start{}, width)
	l.Add(name+".running_var", Start{Value: 1}, width)
}

func fanIn(in int) Start { return Start{Bound: float32(1 / math.Sqrt(float64(in)))} }

// FanIn is PyTorch's start of a linear layer: uniform in ±1/sqrt(in).
func FanIn(in int) Start { return fanIn(in) }

// Glorot is uniform in ±sqrt(6/(a+b)) (Glorot and Bengio, AISTATS 2010).
func Glorot(a, b int) Start { return Start{Bound: float32(math.Sqrt(6 / float64(a+b)))} }

// Index returns the position of a tensor in Specs.
func (l *Layout) Index(name string) (int, bool) {
	i, ok := l.index[name]
	return i, ok
}

// Fresh returns the tensors as they are before training. Each drawn value is
// keyed by seed, shard, tensor and element, and by nothing else.
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

// TorchShape returns the shape that PyTorch gives the tensor.
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

// dense wraps values in the tensor type of Gorgonia without copying them.
func dense(values []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))
}
