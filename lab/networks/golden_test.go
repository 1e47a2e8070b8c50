package networks_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/golden"
	"lethe/lab/networks"
	"lethe/lab/networks/graphlayers"
	"lethe/trainer"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// goldenModel is a case of models.json.
type goldenModel struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Hyper struct {
		Widths    []int   `json:"widths"`
		Hidden    int     `json:"hidden"`
		Heads1    int     `json:"heads1"`
		Heads2    int     `json:"heads2"`
		Channels1 int     `json:"channels1"`
		K         int     `json:"K"`
		Alpha     float64 `json:"alpha"`
		Classes   int     `json:"classes"`
		Layers    string  `json:"layers"`
		Dropout   float64 `json:"dropout"`
	} `json:"hyper"`
	Mode      string     `json:"mode"`
	EdgeIndex [][]uint32 `json:"edge_index"`
	Inputs    struct {
		X golden.Tensor `json:"x"`
	} `json:"inputs"`
	Y            []int32                  `json:"y"`
	ClassWeight  []float32                `json:"class_weight"`
	Params       map[string]golden.Tensor `json:"params"`
	Buffers      map[string]golden.Tensor `json:"buffers"`
	DropoutMasks []golden.Tensor          `json:"dropout_masks"`
	SuperGAT     *struct {
		AttWeight float64 `json:"att_weight"`
		Layers    []struct {
			Pos [][]int `json:"pos_edge_index"`
			Neg [][]int `json:"neg_edge_index"`
		} `json:"layers"`
	} `json:"supergat"`
	Atol   map[string]float64 `json:"atol"`
	Expect struct {
		Layers        map[string]golden.Tensor `json:"layers"`
		Logits        golden.Tensor            `json:"logits"`
		CrossEntropy  float64                  `json:"cross_entropy"`
		AttentionLoss *float64                 `json:"attention_loss"`
		Loss          float64                  `json:"loss"`
		Grads         struct {
			X      golden.Tensor            `json:"x"`
			Params map[string]golden.Tensor `json:"params"`
		} `json:"grads"`
		BuffersAfter map[string]json.RawMessage `json:"buffers_after"`
	} `json:"expect"`
}

// Every model of the file, in each form that the features may take.
func TestGoldenModels(t *testing.T) {
	golden.Each(t, "models.json", goldenModelCases)
}

func goldenModelCases(t *testing.T, file golden.File) {
	t.Helper()
	require.NotEmpty(t, file.Cases)
	for _, k := range kernelSets(t) {
		for _, raw := range file.Cases {
			var c goldenModel
			require.NoError(t, json.Unmarshal(raw, &c))
			for name, form := range map[string]models.Form{
				"differentiable": models.Differentiable, "sparse": models.Sparse, "cached": models.Cached,
			} {
				if form == models.Cached && c.DropoutMasks != nil {
					continue // dropout of the features leaves nothing to keep
				}
				t.Run(k.Name+"/"+c.Name+"/"+name, func(t *testing.T) {
					check := golden.Comparer{T: t, Rtol: file.Rtol, Atol: file.Atol, Special: c.Atol}
					c.checkGradients(t, c.program(t, k, form), check)
				})
			}
		}
	}
}

func (c *goldenModel) config() trainer.Config {
	o := networks.Defaults(strings.ReplaceAll(c.Model, "_", "-"))
	o.LinearSkip, o.Dropout, o.Classes = false, c.Hyper.Dropout, cmp.Or(c.Hyper.Classes, o.Classes)
	o.Hidden = cmp.Or(c.Hyper.Hidden, o.Hidden)
	o.Heads, o.OutputHeads = cmp.Or(c.Hyper.Heads1, o.Heads), cmp.Or(c.Hyper.Heads2, o.OutputHeads)
	o.Hops, o.Teleport = cmp.Or(c.Hyper.K, o.Hops), cmp.Or(c.Hyper.Alpha, o.Teleport)
	if w := c.Hyper.Widths; w != nil {
		o.Widths = w[1 : len(w)-1]
	}
	if o.Heads > 0 {
		o.Hidden = o.Heads * c.Hyper.Channels1
	}
	o.PlainGIN = c.Model == "gin" && !strings.Contains(c.Hyper.Layers, "BatchNorm1d")
	if c.SuperGAT != nil {
		o.AttentionLoss = c.SuperGAT.AttWeight
	}
	return o
}

// program is a network with its plan, and a gradient of every parameter and of the features.
type program struct {
	*models.Network
	plan      *layers.Plan
	gradients [][]float32
}

func (p *program) run() error {
	p.Work.Attention = 0
	return p.plan.Run()
}

// program compiles the case's network, loaded with its weights and its graph.
func (c *goldenModel) program(t *testing.T, k kernels.Set, form models.Form) *program {
	t.Helper()
	opts, cols, rows := c.config(), c.Inputs.X.Shape[1], len(c.Y)
	require.NoError(t, opts.Validate())
	settings := opts.Settings
	if c.SuperGAT == nil {
		settings.AttentionLoss = 0
	}
	// Capacity above the rows shows that what lies behind never counts.
	b := layers.NewBuilder(k, rows+5, true)
	n, err := networks.All().NewNetwork(b, opts.Architecture(cols), settings, form, rows+5)
	require.NoError(t, err)
	p, wrt := &program{Network: n}, n.Nodes
	if form == models.Differentiable {
		wrt = append(wrt[:len(wrt):len(wrt)], n.Features)
	}
	grads := b.Gradients(layers.CrossEntropy(b, n.Logits), wrt)
	p.plan, err = b.Plan()
	require.NoError(t, err)
	for _, g := range grads {
		p.gradients = append(p.gradients, layers.Result(g))
	}
	require.Len(t, c.Params, len(p.Params.Layout.Specs), "parameter names")
	require.Len(t, c.Buffers, len(p.Buffers.Layout.Specs), "buffer names")
	for i, spec := range p.Params.Layout.Specs {
		require.Equal(t, c.Params[spec.Name].Shape, spec.TorchShape(), spec.Name)
		copy(p.Params.Slice(i), fromTorch(spec, c.Params[spec.Name].Floats()))
	}
	for i, spec := range p.Buffers.Layout.Specs {
		copy(p.Buffers.Slice(i), c.Buffers[spec.Name].Floats())
	}
	features := c.Inputs.X.Floats()
	batch := layers.NewBatch(rows, cols, features, golden.Undirected(c.EdgeIndex))
	batch.Labels, batch.ClassWeights = c.Y, c.ClassWeight
	if batch.ClassWeights == nil {
		batch.ClassWeights = slices.Repeat([]float32{1}, c.Hyper.Classes)
	}
	networks.All().Prepare(p.Architecture, batch, form, features, k)
	p.Load(batch)
	c.replaceDraws(graphlayers.Derive(batch))
	return p
}

// replaceDraws makes the case's masks and samples take the place of keyed draws.
func (c *goldenModel) replaceDraws(d *graphlayers.Derived) {
	if c.DropoutMasks != nil {
		d.Replace = &graphlayers.Replacement{Keep: func(d graphlayers.Draw) bool {
			mask := c.DropoutMasks[d.Site]
			if d.Site%2 == 0 { // features and hidden layer, then their attention
				return mask.Data[d.Row*mask.Shape[1]+d.Column] != 0
			}
			return mask.Data[c.edge(d.Other, d.Row)*mask.Shape[1]+d.Column] != 0
		}}
	}
	if c.SuperGAT != nil {
		d.Replace = &graphlayers.Replacement{Pairs: func(site uint64) []graphlayers.Pair {
			var out []graphlayers.Pair
			layer := c.SuperGAT.Layers[site]
			for side, index := range [][][]int{layer.Pos, layer.Neg} {
				for e := range index[0] {
					out = append(out, graphlayers.Pair{Source: uint32(index[0][e]), Target: uint32(index[1][e]), Edge: side == 0})
				}
			}
			return out
		}}
	}
}

// edge returns the row of an edge in the reference's order, loops last.
func (c *goldenModel) edge(source, target int) int {
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

func (c *goldenModel) checkGradients(t *testing.T, p *program, check golden.Comparer) {
	require.NoError(t, p.run())
	for name, want := range c.Expect.Layers {
		require.Contains(t, p.Marks, name)
		check.Values("layers/"+name, want, layers.Result(p.Marks[name])[:len(want.Data)])
	}
	check.Values("logits", c.Expect.Logits, layers.Result(p.Logits)[:len(c.Expect.Logits.Data)])
	check.Number("cross_entropy", c.Expect.CrossEntropy, p.Work.Loss)
	check.Number("loss", c.Expect.Loss, p.Work.Loss+p.Work.Attention)
	if c.Expect.AttentionLoss != nil {
		check.Number("attention_loss", *c.Expect.AttentionLoss, p.Work.Attention/c.SuperGAT.AttWeight)
	}
	require.Len(t, c.Expect.Grads.Params, len(p.Params.Layout.Specs))
	for i, spec := range p.Params.Layout.Specs {
		check.Values("grads/params/"+spec.Name, c.Expect.Grads.Params[spec.Name], spec.ToTorch(p.gradients[i]))
	}
	if p.Form == models.Differentiable {
		check.Values("grads/x", c.Expect.Grads.X, p.gradients[len(p.gradients)-1][:len(c.Inputs.X.Data)])
	}
	if c.Expect.BuffersAfter != nil {
		checkBuffers(t, p, "buffers_after/", c.Expect.BuffersAfter, check)
	}
}

func checkBuffers(t *testing.T, p *program, path string, want map[string]json.RawMessage, check golden.Comparer) {
	for i, spec := range p.Buffers.Layout.Specs {
		var w golden.Tensor
		require.Contains(t, want, spec.Name)
		require.NoError(t, json.Unmarshal(want[spec.Name], &w))
		check.Values(path+spec.Name, w, p.Buffers.Slice(i))
	}
}

// fromTorch returns values in PyTorch's order as the tensor keeps them.
func fromTorch(s layers.Spec, values []float32) []float32 {
	s.Shape = s.TorchShape()
	return s.ToTorch(values)
}
