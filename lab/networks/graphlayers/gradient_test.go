package graphlayers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// bench is one layer with leaves to disturb, and a loss of its result.
type bench struct {
	*layers.Builder
	names   []string
	leaves  gorgonia.Nodes
	values  [][]float32
	plan    *layers.Plan
	out     *gorgonia.Node
	grads   gorgonia.Nodes
	weights []float32
}

// newBench works on a path graph with an isolated node at the end.
func newBench(k kernels.Set, rows int) *bench {
	b := &bench{Builder: layers.NewBuilder(k, rows+3, true)}
	b.Work.Batch = layers.NewBatch(rows, 1, make([]float32, rows), pathEdges(rows))
	Derive(b.Work.Batch)
	b.Work.Batch.Keys = make([]uint64, rows)
	for i := range b.Work.Batch.Keys {
		b.Work.Batch.Keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	return b
}

func pathEdges(rows int) []lethe.Edge {
	var edges []lethe.Edge
	for i := range uint32(rows) - 2 {
		edges = append(edges, lethe.Edge{A: i, B: i + 1})
	}
	return edges
}

// leaf adds a differentiable leaf with normal values, at least 0.1 from 0 so
// that no disturbance crosses ReLU's kink.
func (b *bench) leaf(name string, shape ...int) *gorgonia.Node {
	d, size := lethe.NewDraw(3, name), 1
	for _, n := range shape {
		size *= n
	}
	values := make([]float32, size)
	for i := range values {
		x := float32(d.Normal())
		values[i] = x + float32(math.Copysign(0.1, float64(x)))
	}
	n := b.Input(name, values, true, shape...)
	b.names, b.leaves, b.values = append(b.names, name), append(b.leaves, n), append(b.values, values)
	return n
}

// finish differentiates Σ out∘weights, or out itself if it is a loss.
func (b *bench) finish(t require.TestingT, out *gorgonia.Node) {
	require.NoError(t, b.Err())
	b.out = out
	if out.IsScalar() {
		b.grads = b.Gradients(out, b.leaves)
	} else {
		d := lethe.NewDraw(4, "upstream")
		b.weights = make([]float32, b.Capacity*layers.Width(out))
		for i := range b.weights {
			b.weights[i] = float32(d.Normal())
		}
		b.grads = b.GradientsOf(out, b.Input("R", b.weights, false, b.Capacity, layers.Width(out)), b.leaves)
	}
	var err error
	b.plan, err = b.Plan()
	require.NoError(t, err)
}

func (b *bench) loss(t require.TestingT) float64 {
	b.Work.Loss, b.Work.Attention = 0, 0
	require.NoError(t, b.plan.Run())
	sum := b.Work.Loss + b.Work.Attention
	if b.weights != nil {
		for i, v := range layers.Result(b.out)[:b.Work.Batch.Rows*layers.Width(b.out)] {
			sum += float64(v) * float64(b.weights[i])
		}
	}
	return sum
}

// check compares every leaf's gradient with central differences along three
// random directions.
func (b *bench) check(t require.TestingT) {
	const step = 1.0 / 128
	for i, name := range b.names {
		b.loss(t)
		values := b.values[i]
		grad := append([]float32(nil), layers.Result(b.grads[i])...)
		live := len(values)
		if shape := b.leaves[i].Shape(); shape[0] == b.Capacity {
			live = b.Work.Batch.Rows * shape[1]
		}
		for direction := range uint64(3) {
			d := lethe.NewDraw(direction, "direction"+name)
			saved := append([]float32(nil), values...)
			along, size := make([]float64, live), 0.0
			for j := range along {
				along[j] = d.Normal()
				size += along[j] * along[j]
			}
			at := func(sign float64) float64 {
				for j := range along {
					values[j] = saved[j] + float32(sign*step*along[j]/math.Sqrt(size))
				}
				return b.loss(t)
			}
			difference := (at(1) - at(-1)) / (2 * step)
			copy(values, saved)
			got, scale := 0.0, 0.0
			for j := range along {
				got += float64(grad[j]) * along[j] / math.Sqrt(size)
				scale += float64(grad[j]) * float64(grad[j])
			}
			require.InDelta(t, difference, got, 5e-3*(math.Sqrt(scale)+0.1), "gradient of %s", name)
		}
	}
}

// layerUnderTest adds a layer to a bench of b.Capacity rows.
type layerUnderTest func(b *bench, in, out int) *gorgonia.Node

func layersUnderTest() map[string]layerUnderTest {
	x := func(b *bench, cols int) *gorgonia.Node { return b.leaf("x", b.Capacity, cols) }
	heads := Attention{Heads: 2, Channels: 3, Dropout: 0.3}
	return map[string]layerUnderTest{
		"linear": func(b *bench, in, out int) *gorgonia.Node {
			return layers.Linear(b.Builder, x(b, in), b.leaf("w", in, out), b.leaf("bias", out))
		},
		"pair": func(b *bench, in, out int) *gorgonia.Node {
			return LinearPair(b.Builder, x(b, in), b.leaf("l", in, out), b.leaf("r", in, out),
				b.leaf("lb", out), b.leaf("rb", out))
		},
		"bias": func(b *bench, in, _ int) *gorgonia.Node { return layers.Bias(b.Builder, x(b, in), b.leaf("bias", in)) },
		"sage": func(b *bench, in, out int) *gorgonia.Node {
			return SAGE(b.Builder, x(b, in), b.leaf("l", in, out), b.leaf("bias", out), b.leaf("r", in, out))
		},
		"gin":       func(b *bench, in, _ int) *gorgonia.Node { return layers.GINSum(b.Builder, x(b, in), b.leaf("eps", 1)) },
		"propagate": func(b *bench, in, out int) *gorgonia.Node { return Propagate(b.Builder, x(b, in), out, 0.1) },
		"relu":      func(b *bench, in, _ int) *gorgonia.Node { return layers.ReLU(b.Builder, x(b, in)) },
		"leaky":     func(b *bench, in, _ int) *gorgonia.Node { return leakyReLU(b.Builder, x(b, in), 0.2) },
		"elu":       func(b *bench, in, _ int) *gorgonia.Node { return ELU(b.Builder, x(b, in)) },
		"dropout":   func(b *bench, in, _ int) *gorgonia.Node { return Dropout(b.Builder, x(b, in), 0.4) },
		"heads":     func(b *bench, in, _ int) *gorgonia.Node { return HeadMean(b.Builder, x(b, 3*in), 3) },
		"sum": func(b *bench, in, _ int) *gorgonia.Node {
			return layers.Sum(b.Builder, x(b, in), b.leaf("y", b.Capacity, in))
		},
		"used twice": func(b *bench, in, _ int) *gorgonia.Node {
			v, w := x(b, in), b.leaf("w", in, in)
			sum := layers.Sum(b.Builder, ELU(b.Builder, v), layers.Linear(b.Builder, v, w, nil))
			return layers.Bias(b.Builder, layers.Linear(b.Builder, sum, w, nil), b.leaf("bias", in))
		},
		"norm": func(b *bench, in, _ int) *gorgonia.Node {
			return layers.Norm(b.Builder, x(b, in), &layers.BatchNorm{
				Weight: b.leaf("weight", in), Bias: b.leaf("bias", in),
				RunningMean: make([]float32, in), RunningVar: make([]float32, in),
			})
		},
		"gat": func(b *bench, _, _ int) *gorgonia.Node {
			return GAT(b.Builder, x(b, 6), b.leaf("source", 1, 2, 3), b.leaf("target", 1, 2, 3), heads)
		},
		"gatv2": func(b *bench, _, _ int) *gorgonia.Node {
			return GATv2(b.Builder, x(b, 12), b.leaf("vector", 1, 2, 3), heads)
		},
		"supergat": func(b *bench, _, _ int) *gorgonia.Node {
			return SuperGAT(b.Builder, x(b, 6), b.leaf("source", 1, 2, 3), b.leaf("target", 1, 2, 3), heads,
				SelfSupervision{Weight: 4, EdgeRatio: 0.8, NegativeRatio: 0.5})
		},
		"loss": func(b *bench, _, out int) *gorgonia.Node {
			b.Work.Batch.ClassWeights = make([]float32, out)
			for i := range b.Work.Batch.Rows {
				b.Work.Batch.Labels = append(b.Work.Batch.Labels, int32(i%(out+1)-1))
			}
			for c := range out {
				b.Work.Batch.ClassWeights[c] = 1 + float32(c)/2
			}
			return layers.CrossEntropy(b.Builder, b.leaf("logits", b.Capacity, out))
		},
	}
}

func TestGradientsMatchFiniteDifferences(t *testing.T) {
	for name, build := range layersUnderTest() {
		for _, k := range kernelSets(t) {
			t.Run(name+"/"+k.Name, func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					rows := rapid.IntRange(8, 20).Draw(rt, "rows")
					in, out := rapid.IntRange(1, 9).Draw(rt, "in"), rapid.IntRange(2, 7).Draw(rt, "out")
					b := newBench(k, rows)
					b.finish(rt, build(b, in, out))
					b.check(rt)
				})
			})
		}
	}
}
