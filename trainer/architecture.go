package trainer

import (
	"fmt"
	"math"

	"lethe"
)

const (
	// maxWidth bounds features and layers, so that a forged checkpoint cannot
	// make the size of a weight matrix overflow.
	maxWidth = 1 << 16
	// convolutions is the number of GIN layers.
	convolutions = 3
)

// architecture is what the shapes of a model depend on.
type architecture struct {
	features   int
	classes    int
	widths     [hiddenLayers]int
	linearSkip bool
}

func (o Options) architecture(features int) architecture {
	return architecture{features: features, classes: o.Classes, widths: [hiddenLayers]int(o.Widths), linearSkip: !o.NoLinearSkip}
}

// parameters lays out the trained tensors under PyTorch's names and shapes: a
// linear layer has weight [out, in] and bias [out].
func (a architecture) parameters() *layout {
	l := &layout{}
	in := a.features
	for i, width := range a.widths[:convolutions] {
		conv := fmt.Sprintf("conv%d", i+1)
		l.add(conv+".eps", start{}, 1)
		l.linear(conv+".nn.0", in, width)
		l.linear(conv+".nn.2", width, width)
		l.norm(fmt.Sprintf("batchnorm%d", i+1), width)
		in = width
	}
	last := a.widths[convolutions]
	l.linear("fc1", in, last)
	l.norm(fmt.Sprintf("batchnorm%d", convolutions+1), last)
	l.linear("fc2", last, a.classes)
	if a.linearSkip {
		l.linear("skip", a.features, a.classes)
	}
	return l
}

// buffers lays out the batch norms' running statistics.
func (a architecture) buffers() *layout {
	l := &layout{}
	for i, width := range a.widths {
		l.add(fmt.Sprintf("batchnorm%d.running_mean", i+1), start{}, width)
		l.add(fmt.Sprintf("batchnorm%d.running_var", i+1), start{value: 1}, width)
	}
	return l
}

// linear adds a linear layer, which starts as PyTorch's do: uniform in
// ±1/sqrt(in), weight and bias alike.
func (l *layout) linear(name string, in, out int) {
	begin := start{bound: float32(1 / math.Sqrt(float64(in)))}
	l.add(name+".weight", begin, out, in)
	l.add(name+".bias", begin, out)
}

// norm adds a batch norm, which starts as the identity.
func (l *layout) norm(name string, width int) {
	l.add(name+".weight", start{value: 1}, width)
	l.add(name+".bias", start{}, width)
}

// fresh returns the tensors of a layout as they are before training. Each drawn
// value is keyed by seed, shard, tensor and element, and by nothing else.
func (l *layout) fresh(seed uint64, shard lethe.ShardID) *tensors {
	t := newTensors(l)
	for i, spec := range l.specs {
		for e := range spec.size {
			v := spec.start.value
			if spec.start.bound > 0 {
				u := lethe.NewDraw(seed, "init", uint64(shard), uint64(i), uint64(e)).Float32()
				v += float32((2*u - 1) * spec.start.bound)
			}
			t.values[spec.from+e] = v
		}
	}
	return t
}
