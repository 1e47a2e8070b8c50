package graphlayers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe/internal/golden"
	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// layerCase is a case of json.
type layerCase struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	Mode  string `json:"mode"`
	Hyper struct {
		Eps           float64  `json:"eps"`
		MLP           []string `json:"mlp"`
		Heads         int      `json:"heads"`
		OutChannels   int      `json:"out_channels"`
		Concat        bool     `json:"concat"`
		Dropout       float64  `json:"dropout"`
		P             float64  `json:"p"`
		K             int      `json:"K"`
		Alpha         float64  `json:"alpha"`
		NegativeSlope float64  `json:"negative_slope"`
	} `json:"hyper"`
	EdgeIndex [][]uint32 `json:"edge_index"`
	Inputs    struct {
		X golden.Tensor `json:"x"`
	} `json:"inputs"`
	Params        map[string]golden.Tensor `json:"params"`
	Buffers       map[string]golden.Tensor `json:"buffers"`
	Mask          *golden.Tensor           `json:"mask"`
	AttentionMask *golden.Tensor           `json:"attention_mask"`
	SuperGAT      *struct {
		AttWeight float64 `json:"att_weight"`
		Pos       [][]int `json:"pos_edge_index"`
		Neg       [][]int `json:"neg_edge_index"`
	} `json:"supergat"`
	R      golden.Tensor      `json:"R"`
	Atol   map[string]float64 `json:"atol"`
	Expect struct {
		Out           golden.Tensor  `json:"out"`
		Attention     *golden.Tensor `json:"attention"`
		AttentionLoss *float64       `json:"attention_loss"`
		Loss          float64        `json:"loss"`
		Grads         struct {
			X      golden.Tensor            `json:"x"`
			Params map[string]golden.Tensor `json:"params"`
		} `json:"grads"`
		BuffersAfter map[string]golden.Tensor `json:"buffers_after"`
	} `json:"expect"`
}

func TestGoldenLayers(t *testing.T) {
	golden.Each(t, "layers.json", goldenLayerCases)
}

func goldenLayerCases(t *testing.T, file golden.File) {
	t.Helper()
	require.NotEmpty(t, file.Cases)
	for _, k := range kernelSets(t) {
		for _, raw := range file.Cases {
			var c layerCase
			require.NoError(t, json.Unmarshal(raw, &c))
			t.Run(k.Name+"/"+c.Name, func(t *testing.T) {
				c.run(t, k, golden.Comparer{T: t, Rtol: file.Rtol, Atol: file.Atol, Special: c.Atol})
			})
		}
	}
}

// bound is a case bound to a builder.
type bound struct {
	*layers.Builder
	c               *layerCase
	params, buffers *layers.Tensors
	nodes           gorgonia.Nodes
}

func (c *layerCase) bind(b *layers.Builder) *bound {
	params, buffers := &layers.Layout{}, &layers.Layout{}
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		shape := c.Params[name].Shape
		if len(shape) == 2 {
			params.Matrix(name, shape[1], shape[0], layers.Start{})
		} else {
			params.Add(name, layers.Start{}, shape...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Buffers)) {
		buffers.Add(name, layers.Start{}, c.Buffers[name].Shape...)
	}
	s := &bound{Builder: b, c: c, params: layers.NewTensors(params), buffers: layers.NewTensors(buffers)}
	for i, spec := range params.Specs {
		copy(s.params.Slice(i), fromTorch(spec, c.Params[spec.Name].Floats()))
		s.nodes = append(s.nodes, b.Input(spec.Name, s.params.Slice(i), true, spec.Shape...))
	}
	for i, spec := range buffers.Specs {
		copy(s.buffers.Slice(i), c.Buffers[spec.Name].Floats())
	}
	return s
}

func (s *bound) parameter(name string) *gorgonia.Node {
	if i, ok := s.params.Layout.Index(name); ok {
		return s.nodes[i]
	}
	return nil
}

func (c *layerCase) run(t *testing.T, k kernels.Set, check golden.Comparer) {
	rows, cols := c.Inputs.X.Shape[0], c.Inputs.X.Shape[1]
	// Capacity above the rows, with other values behind them, shows that what
	// lies behind never counts.
	b := layers.NewBuilder(k, rows+5, c.Mode == "train")
	b.Work.Batch = layers.NewBatch(rows, cols, c.Inputs.X.Floats(), golden.Undirected(c.EdgeIndex))
	c.replaceDraws(Derive(b.Work.Batch))
	padded := filled(b.Capacity*cols, 77)
	copy(padded, c.Inputs.X.Floats())
	x := b.Input("x", padded, true, b.Capacity, cols)
	s := c.bind(b)
	out := c.forward(t, s, x)
	require.NoError(t, b.Err())
	upstream := filled(b.Capacity*layers.Width(out), 99)
	copy(upstream, c.R.Floats())
	weights := b.Input("R", upstream, false, b.Capacity, layers.Width(out))
	grads := b.GradientsOf(out, weights, append(slices.Clone(s.nodes), x))
	plan, err := b.Plan()
	require.NoError(t, err)
	require.NoError(t, plan.Run())

	got := layers.Result(out)[:rows*layers.Width(out)]
	check.Values("out", c.Expect.Out, got)
	loss := b.Work.Attention
	for i, v := range got {
		loss += float64(v) * c.R.Data[i]
	}
	check.Number("loss", c.Expect.Loss, loss)
	if c.Expect.AttentionLoss != nil {
		check.Number("attention_loss", *c.Expect.AttentionLoss, b.Work.Attention/c.SuperGAT.AttWeight)
	}
	check.Values("grads/x", c.Expect.Grads.X, layers.Result(grads[len(s.nodes)])[:rows*cols])
	require.Len(t, s.nodes, len(c.Expect.Grads.Params))
	for i, spec := range s.params.Layout.Specs {
		check.Values("grads/params/"+spec.Name, c.Expect.Grads.Params[spec.Name], spec.ToTorch(layers.Result(grads[i])))
	}
	for i, spec := range s.buffers.Layout.Specs {
		want, ok := c.Expect.BuffersAfter[spec.Name]
		if !ok {
			want = c.Buffers[spec.Name]
		}
		check.Values("buffers_after/"+spec.Name, want, s.buffers.Slice(i))
	}
}

// replaceDraws makes the case's masks and samples take the place of keyed draws.
func (c *layerCase) replaceDraws(d *Derived) {
	if c.Mask != nil {
		d.Replace = &Replacement{Keep: func(d Draw) bool { return c.Mask.Data[d.Row*c.Mask.Shape[1]+d.Column] != 0 }}
	}
	if c.AttentionMask != nil {
		d.Replace = &Replacement{Keep: func(d Draw) bool {
			return c.AttentionMask.Data[c.edge(d.Other, d.Row)*c.Hyper.Heads+d.Column] != 0
		}}
	}
	if c.SuperGAT != nil {
		d.Replace = &Replacement{Pairs: func(uint64) []Pair { return c.sample() }}
	}
}

// edge returns the row of an edge in the reference's order, loops last.
func (c *layerCase) edge(source, target int) int {
	if source == target {
		return len(c.EdgeIndex[0]) + source
	}
	for e, s := range c.EdgeIndex[0] {
		if int(s) == source && int(c.EdgeIndex[1][e]) == target {
			return e
		}
	}
	panic(fmt.Sprintf("no edge from %d to %d", source, target))
}

func (c *layerCase) sample() []Pair {
	var out []Pair
	for side, index := range [][][]int{c.SuperGAT.Pos, c.SuperGAT.Neg} {
		for e := range index[0] {
			out = append(out, Pair{Source: uint32(index[0][e]), Target: uint32(index[1][e]), Edge: side == 0})
		}
	}
	return out
}

// forward adds the case's layer.
func (c *layerCase) forward(t *testing.T, s *bound, x *gorgonia.Node) *gorgonia.Node {
	shape := Attention{Heads: c.Hyper.Heads, Channels: c.Hyper.OutChannels, Dropout: c.Hyper.Dropout}
	heads := func(x *gorgonia.Node) *gorgonia.Node {
		if !c.Hyper.Concat {
			x = HeadMean(s.Builder, x, shape.Heads)
		}
		return layers.Bias(s.Builder, x, s.parameter("bias"))
	}
	switch c.Op {
	case "GINConv":
		return c.gin(t, s, x)
	case "SAGEConv":
		return SAGE(s.Builder, x, s.parameter("lin_l.weight"), s.parameter("lin_l.bias"), s.parameter("lin_r.weight"))
	case "GATConv":
		z := layers.Linear(s.Builder, x, s.parameter("lin.weight"), nil)
		return heads(GAT(s.Builder, z, s.parameter("att_src"), s.parameter("att_dst"), shape))
	case "GATv2Conv":
		pairs := LinearPair(s.Builder, x, s.parameter("lin_l.weight"), s.parameter("lin_r.weight"),
			s.parameter("lin_l.bias"), s.parameter("lin_r.bias"))
		return heads(GATv2(s.Builder, pairs, s.parameter("att"), shape))
	case "SuperGATConv":
		z, loss := layers.Linear(s.Builder, x, s.parameter("lin.weight"), nil), SelfSupervision{}
		if c.SuperGAT != nil {
			loss.Weight = c.SuperGAT.AttWeight
		}
		return heads(SuperGAT(s.Builder, z, s.parameter("att_l"), s.parameter("att_r"), shape, loss))
	case "APPNP":
		return Propagate(s.Builder, x, c.Hyper.K, float32(c.Hyper.Alpha))
	case "SGConv":
		x = Propagate(s.Builder, x, c.Hyper.K, 0)
		return layers.Linear(s.Builder, x, s.parameter("lin.weight"), s.parameter("lin.bias"))
	case "GCNConv":
		x = Propagate(s.Builder, layers.Linear(s.Builder, x, s.parameter("lin.weight"), nil), 1, 0)
		return layers.Bias(s.Builder, x, s.parameter("bias"))
	case "Dropout":
		return Dropout(s.Builder, x, c.Hyper.P)
	case "ELU":
		return ELU(s.Builder, x)
	case "LeakyReLU":
		return leakyReLU(s.Builder, x, float32(c.Hyper.NegativeSlope))
	default:
		return c.module(t, s, c.Op, "", x)
	}
}

// module adds a layer without a graph; its parameters' names begin with prefix.
func (c *layerCase) module(t *testing.T, s *bound, kind, prefix string, x *gorgonia.Node) *gorgonia.Node {
	switch kind {
	case "Linear":
		return layers.Linear(s.Builder, x, s.parameter(prefix+"weight"), s.parameter(prefix+"bias"))
	case "BatchNorm1d":
		mean, _, err := s.buffers.Named(prefix + "running_mean")
		require.NoError(t, err)
		variance, _, err := s.buffers.Named(prefix + "running_var")
		require.NoError(t, err)
		return layers.Norm(s.Builder, x, &layers.BatchNorm{
			Weight: s.parameter(prefix + "weight"), Bias: s.parameter(prefix + "bias"),
			RunningMean: mean, RunningVar: variance,
		})
	case "ReLU":
		return layers.ReLU(s.Builder, x)
	default:
		require.Failf(t, "no such layer", "%q", kind)
		return nil
	}
}

func (c *layerCase) gin(t *testing.T, s *bound, x *gorgonia.Node) *gorgonia.Node {
	eps := s.parameter("eps")
	if eps == nil {
		eps = s.Input("eps", []float32{float32(c.Hyper.Eps)}, false, 1)
	}
	x = layers.GINSum(s.Builder, x, eps)
	for i, kind := range c.Hyper.MLP {
		x = c.module(t, s, kind, fmt.Sprintf("nn.%d.", i), x)
	}
	return x
}

func filled(n int, v float32) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = v
	}
	return values
}

// kernelSets returns every set that this processor can run.
func kernelSets(t testing.TB) []kernels.Set {
	t.Helper()
	sets := []kernels.Set{kernels.Portable()}
	if k := kernels.Default(); k.Name != kernels.PortableName {
		sets = append(sets, k)
	}
	return sets
}

// fromTorch returns values in PyTorch's order as the tensor keeps them.
func fromTorch(s layers.Spec, values []float32) []float32 {
	s.Shape = s.TorchShape()
	return s.ToTorch(values)
}

// leakyReLU adds x for x > 0 and slope·x otherwise; slope is positive. The networks have it within
// attention alone: as a layer it shows the kernels beside the reference.
func leakyReLU(b *layers.Builder, x *gorgonia.Node, slope float32) *gorgonia.Node {
	return layers.Elementwise(b, "leaky", x,
		func(dst, x []float32) { loops.Of(b.Work.Kernels).Activations.LeakyReLU(dst, x, slope) },
		func(dst, y, g []float32) { loops.Of(b.Work.Kernels).Activations.LeakyReLUGrad(dst, y, g, slope) })
}
