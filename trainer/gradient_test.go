package trainer

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/kernels"
)

// bench is one operator with leaves to disturb, and a loss of its result.
type bench struct {
	*builder
	names   []string
	leaves  gorgonia.Nodes
	values  []*tensor.Dense
	machine gorgonia.VM
	out     *gorgonia.Node
	grads   gorgonia.Nodes
	weights []float32
}

func newBench(k kernels.Set, in Input, training bool) *bench {
	b := &bench{builder: newBuilder(k, in.Rows+3, training, 0)}
	b.work.batch = newBatch(in, k)
	return b
}

// leaf adds a differentiable leaf with normal values, at least 0.1 from 0 so
// that no disturbance crosses ReLU's kink.
func (b *bench) leaf(name string, shape ...int) *gorgonia.Node {
	d := lethe.NewDraw(3, name)
	v := dense(make([]float32, tensor.Shape(shape).TotalSize()), shape...)
	for i := range v.Float32s() {
		x := float32(d.Normal())
		v.Float32s()[i] = x + float32(math.Copysign(0.1, float64(x)))
	}
	n := b.input(name, v, true)
	b.names, b.leaves, b.values = append(b.names, name), append(b.leaves, n), append(b.values, v)
	return n
}

// finish differentiates Σ out∘weights, or out itself if it is a loss.
func (b *bench) finish(t require.TestingT, out *gorgonia.Node) {
	require.NoError(t, b.err)
	b.out = out
	if out.IsScalar() {
		b.grads = b.gradients(out, b.leaves)
	} else {
		upstream := b.rows(out.Shape()[1])
		d := lethe.NewDraw(4, "upstream")
		for i := range upstream.Float32s() {
			upstream.Float32s()[i] = float32(d.Normal())
		}
		b.weights = upstream.Float32s()
		var err error
		b.grads, err = gorgonia.Backpropagate(gorgonia.Nodes{out}, gorgonia.Nodes{b.input("R", upstream, false)}, b.leaves)
		require.NoError(t, err)
	}
	require.NoError(t, b.err)
	b.machine = gorgonia.NewTapeMachine(b.graph)
}

func (b *bench) loss(t require.TestingT) float64 {
	b.machine.Reset()
	require.NoError(t, b.machine.RunAll())
	if b.weights == nil {
		return b.work.loss
	}
	sum := 0.0
	for i, v := range b.live(resultOf(b.out)).Data {
		sum += float64(v) * float64(b.weights[i])
	}
	return sum
}

// gradientOf returns a gradient's values, which are those of a leaf if an
// operator passes its own gradient on.
func gradientOf(n *gorgonia.Node) []float32 {
	if n.Op() == nil {
		return floats(n.Value())
	}
	return floats(resultOf(n))
}

// check compares every leaf's gradient with central differences along three
// random directions.
func (b *bench) check(t require.TestingT) {
	const step = 1.0 / 128
	for i, name := range b.names {
		b.loss(t)
		values := b.values[i].Float32s()
		grad := append([]float32(nil), gradientOf(b.grads[i])...)
		live := len(values)
		if b.values[i].Shape()[0] == b.capacity {
			live = b.work.batch.rows * b.values[i].Shape()[1]
		}
		for direction := range uint64(3) {
			d := lethe.NewDraw(direction, "direction"+name)
			saved := append([]float32(nil), values...)
			along, size := make([]float64, live), 0.0
			for j := range along {
				along[j] = d.Normal()
				size += along[j] * along[j]
			}
			want, scale := 0.0, 0.0
			at := func(sign float64) float64 {
				for j := range along {
					values[j] = saved[j] + float32(sign*step*along[j]/math.Sqrt(size))
				}
				return b.loss(t)
			}
			difference := (at(1) - at(-1)) / (2 * step)
			copy(values, saved)
			for j := range along {
				want += float64(grad[j]) * along[j] / math.Sqrt(size)
				scale += float64(grad[j]) * float64(grad[j])
			}
			require.InDelta(t, difference, want, 5e-3*(math.Sqrt(scale)+0.1), "gradient of %s", name)
		}
	}
}

// pathInput is a path graph with an isolated node at the end.
func pathInput(rows, cols int) Input {
	in := Input{Rows: rows, Cols: cols, Features: make([]float32, rows*cols)}
	for i := range uint32(rows) - 2 {
		in.Edges = append(in.Edges, lethe.Edge{A: i, B: i + 1})
	}
	return in
}

func TestGradientsMatchFiniteDifferences(t *testing.T) {
	operators := map[string]func(b *bench, rows, in, out int) *gorgonia.Node{
		"linear": func(b *bench, rows, in, out int) *gorgonia.Node {
			return b.linear(b.leaf("x", rows, in), b.leaf("w", out, in), b.leaf("bias", out))
		},
		"gin": func(b *bench, rows, in, _ int) *gorgonia.Node {
			return b.ginSum(b.leaf("x", rows, in), b.leaf("eps", 1), false)
		},
		"relu": func(b *bench, rows, in, _ int) *gorgonia.Node { return b.relu(b.leaf("x", rows, in)) },
		"sum": func(b *bench, rows, in, _ int) *gorgonia.Node {
			return b.sum(b.leaf("x", rows, in), b.leaf("y", rows, in))
		},
		"norm": func(b *bench, rows, in, _ int) *gorgonia.Node {
			return b.batchNorm(b.leaf("x", rows, in), &batchNorm{
				weight: b.leaf("weight", in), bias: b.leaf("bias", in),
				runningMean: make([]float32, in), runningVar: make([]float32, in),
			})
		},
		"loss": func(b *bench, rows, _, out int) *gorgonia.Node {
			b.work.batch.classWeights = make([]float32, out)
			for i := range b.work.batch.rows {
				b.work.batch.labels = append(b.work.batch.labels, int32(i%(out+1)-1))
			}
			for c := range out {
				b.work.batch.classWeights[c] = 1 + float32(c)/2
			}
			return b.crossEntropy(b.leaf("logits", rows, out))
		},
	}
	for name, build := range operators {
		for _, k := range kernelSets(t) {
			t.Run(name+"/"+k.Name(), func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					rows := rapid.IntRange(8, 20).Draw(rt, "rows")
					in, out := rapid.IntRange(1, 9).Draw(rt, "in"), rapid.IntRange(2, 7).Draw(rt, "out")
					b := newBench(k, pathInput(rows, in), true)
					b.finish(rt, build(b, b.capacity, in, out))
					b.check(rt)
				})
			})
		}
	}
}

// The whole model, skip included. Central differences cross some of ReLU's
// kinks here, so the bound is wide; a wrong sign or a lost path still shows.
func TestModelGradientMatchesFiniteDifferences(t *testing.T) {
	for _, k := range kernelSets(t) {
		e := newEngine(t, Options{Hidden: 16}, k)
		b := e.batchOf(makeSlice(sliceSpec{timestep: 1, nodes: 60, features: 7, stubs: 20}))
		a := e.opts.architecture(7)
		p, err := compile(programShape{architecture: a, capacity: capacityFor(b.rows), training: true}, k)
		require.NoError(t, err)
		copy(p.params.values, a.parameters().fresh(1, 0).values)
		p.load(b)
		loss := func() float64 {
			require.NoError(t, p.run())
			return p.work.loss
		}
		for i, spec := range p.params.layout.specs {
			loss()
			grad := append([]float32(nil), p.gradients[i]...)
			size := 0.0
			for _, g := range grad {
				size += float64(g) * float64(g)
			}
			size = math.Sqrt(size)
			if size < 1e-3 {
				continue // a bias in front of a batch norm
			}
			// Along the gradient itself the slope is its length.
			values := p.params.slice(i)
			saved := append([]float32(nil), values...)
			at := func(step float64) float64 {
				for j := range values {
					values[j] = saved[j] + float32(step*float64(grad[j])/size)
				}
				return loss()
			}
			const step = 1.0 / 4096
			difference := (at(step) - at(-step)) / (2 * step)
			copy(values, saved)
			require.InEpsilon(t, size, difference, 0.05, "%s with %s", spec.name, k.Name())
		}
	}
}
