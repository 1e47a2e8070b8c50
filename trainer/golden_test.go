package trainer

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe"
	"lethe/trainer/kernels"
)

// goldenTensor is a tensor of the reference vectors.
type goldenTensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

func (g goldenTensor) floats() []float32 {
	out := make([]float32, len(g.Data))
	for i, v := range g.Data {
		out[i] = float32(v)
	}
	return out
}

// goldenFile is what the files have in common.
type goldenFile struct {
	Rtol  float64           `json:"rtol"`
	Atol  float64           `json:"atol"`
	Cases []json.RawMessage `json:"cases"`
}

func readGolden(t *testing.T, name string) goldenFile {
	t.Helper()
	folder := os.Getenv("LETHE_GOLDEN")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "golden")
	}
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if os.IsNotExist(err) {
		t.Skipf("no reference vectors: %v (set LETHE_GOLDEN)", err)
	}
	require.NoError(t, err)
	var f goldenFile
	require.NoError(t, json.Unmarshal(raw, &f))
	return f
}

// comparer checks values against one case's expectations.
type comparer struct {
	t          *testing.T
	rtol, atol float64
	// special replaces atol for paths under expect.
	special map[string]float64
}

func (c comparer) values(path string, want goldenTensor, got []float32) {
	c.t.Helper()
	require.Len(c.t, got, len(want.Data), path)
	atol := c.atol
	if v, ok := c.special[path]; ok {
		atol = v
	}
	for i, w := range want.Data {
		// Written so that a value that is not a number fails.
		if diff := abs(float64(got[i]) - w); !(diff <= atol+c.rtol*abs(w)) {
			require.Failf(c.t, "value differs", "%s[%d]: got %g, want %g ± %g", path, i, got[i], w, atol+c.rtol*abs(w))
		}
	}
}

func (c comparer) number(path string, want, got float64) {
	c.t.Helper()
	c.values(path, goldenTensor{Data: []float64{want}}, []float32{float32(got)})
}

func abs(x float64) float64 { return max(x, -x) }

// undirected turns both directions of every edge into one with A < B.
func undirected(edgeIndex [][]uint32) []lethe.Edge {
	var edges []lethe.Edge
	for i, source := range edgeIndex[0] {
		if target := edgeIndex[1][i]; source < target {
			edges = append(edges, lethe.Edge{A: source, B: target})
		}
	}
	slices.SortFunc(edges, lethe.Edge.Compare)
	return edges
}

// goldenLayer is a case of layers.json.
type goldenLayer struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	Mode  string `json:"mode"`
	Hyper struct {
		Eps float64  `json:"eps"`
		MLP []string `json:"mlp"`
	} `json:"hyper"`
	EdgeIndex [][]uint32 `json:"edge_index"`
	Inputs    struct {
		X goldenTensor `json:"x"`
	} `json:"inputs"`
	Params  map[string]goldenTensor `json:"params"`
	Buffers map[string]goldenTensor `json:"buffers"`
	R       goldenTensor            `json:"R"`
	Atol    map[string]float64      `json:"atol"`
	Expect  struct {
		Out   goldenTensor `json:"out"`
		Loss  float64      `json:"loss"`
		Grads struct {
			X      goldenTensor            `json:"x"`
			Params map[string]goldenTensor `json:"params"`
		} `json:"grads"`
		BuffersAfter map[string]goldenTensor `json:"buffers_after"`
	} `json:"expect"`
}

func TestGoldenLayers(t *testing.T) {
	file := readGolden(t, "layers.json")
	for _, k := range kernelSets(t) {
		ran := 0
		for _, raw := range file.Cases {
			var c goldenLayer
			require.NoError(t, json.Unmarshal(raw, &c))
			if !slices.Contains([]string{"GINConv", "BatchNorm1d", "Linear", "ReLU"}, c.Op) {
				continue
			}
			ran++
			t.Run(k.Name()+"/"+c.Name, func(t *testing.T) {
				c.run(t, k, comparer{t: t, rtol: file.Rtol, atol: file.Atol, special: c.Atol})
			})
		}
		require.Positive(t, ran, "the file holds none of our layers")
	}
}

// layerModel binds a case's parameters and buffers to a model without layers.
func (c *goldenLayer) layerModel(b *builder) *model {
	params, buffers := &layout{}, &layout{}
	for _, name := range sortedKeys(c.Params) {
		params.add(name, start{}, c.Params[name].Shape...)
	}
	for _, name := range sortedKeys(c.Buffers) {
		buffers.add(name, start{}, c.Buffers[name].Shape...)
	}
	p, s := newTensors(params), newTensors(buffers)
	for i, spec := range params.specs {
		copy(p.slice(i), c.Params[spec.name].floats())
	}
	for i, spec := range buffers.specs {
		copy(s.slice(i), c.Buffers[spec.name].floats())
	}
	m := &model{builder: b, params: p, buffers: s}
	for i, spec := range params.specs {
		m.nodes = append(m.nodes, b.input(spec.name, dense(p.slice(i), spec.shape...), true))
	}
	return m
}

func sortedKeys(m map[string]goldenTensor) []string { return slices.Sorted(maps.Keys(m)) }

func (c *goldenLayer) run(t *testing.T, k kernels.Set, check comparer) {
	rows, cols := c.Inputs.X.Shape[0], c.Inputs.X.Shape[1]
	// Capacity above the rows, with other values behind them, shows that what
	// lies behind never counts.
	b := newBuilder(k, rows+5, c.Mode == "train", 0)
	m := c.layerModel(b)
	in := Input{Rows: rows, Cols: cols, Features: c.Inputs.X.floats()}
	if c.EdgeIndex != nil {
		in.Edges = undirected(c.EdgeIndex)
	}
	b.work.batch = newBatch(in, k)
	padded := b.rows(cols)
	fill(padded.Float32s(), 77)
	copy(padded.Float32s(), in.Features)
	x := b.input("x", padded, true)
	out := c.forward(m, x)
	require.NoError(t, b.err)
	upstream := b.rows(out.Shape()[1])
	fill(upstream.Float32s(), 99)
	copy(upstream.Float32s(), c.R.floats())
	grads, err := gorgonia.Backpropagate(gorgonia.Nodes{out},
		gorgonia.Nodes{b.input("R", upstream, false)}, append(slices.Clone(m.nodes), x))
	require.NoError(t, err)
	require.NoError(t, b.err)
	require.NoError(t, gorgonia.NewTapeMachine(b.graph).RunAll())

	got := b.live(resultOf(out)).Data
	check.values("out", c.Expect.Out, got)
	loss := 0.0
	for i, v := range got {
		loss += float64(v) * c.R.Data[i]
	}
	check.number("loss", c.Expect.Loss, loss)
	check.values("grads/x", c.Expect.Grads.X, b.live(resultOf(grads[len(m.nodes)])).Data)
	require.Len(t, m.nodes, len(c.Expect.Grads.Params))
	for i, spec := range m.params.layout.specs {
		check.values("grads/params/"+spec.name, c.Expect.Grads.Params[spec.name], floats(resultOf(grads[i])))
	}
	for i, spec := range m.buffers.layout.specs {
		want, ok := c.Expect.BuffersAfter[spec.name]
		if !ok {
			want = c.Buffers[spec.name]
		}
		check.values("buffers_after/"+spec.name, want, m.buffers.slice(i))
	}
}

// forward adds the case's layer.
func (c *goldenLayer) forward(m *model, x *gorgonia.Node) *gorgonia.Node {
	plain := func(name string) string { return strings.TrimPrefix(name, ".") }
	module := func(kind, prefix string, x *gorgonia.Node) *gorgonia.Node {
		switch kind {
		case "Linear":
			return m.linear(x, m.parameter(plain(prefix+".weight")), m.parameter(plain(prefix+".bias")))
		case "BatchNorm1d":
			return m.batchNorm(x, &batchNorm{
				weight: m.parameter(plain(prefix + ".weight")), bias: m.parameter(plain(prefix + ".bias")),
				runningMean: m.buffer(plain(prefix + ".running_mean")), runningVar: m.buffer(plain(prefix + ".running_var")),
			})
		default:
			return m.relu(x)
		}
	}
	if c.Op != "GINConv" {
		return module(c.Op, "", x)
	}
	eps := m.parameter("eps")
	if eps == nil {
		eps = m.input("eps", dense([]float32{float32(c.Hyper.Eps)}, 1), false)
	}
	x = m.ginSum(x, eps, false)
	for i, kind := range c.Hyper.MLP {
		x = module(kind, "nn."+string(rune('0'+i)), x)
	}
	return x
}

func fill(values []float32, v float32) {
	for i := range values {
		values[i] = v
	}
}
