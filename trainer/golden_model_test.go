package trainer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/golden"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// goldenStep is the state after one step of Adam.
type goldenStep struct {
	Loss    float64                    `json:"loss"`
	Params  map[string]golden.Tensor   `json:"params"`
	Buffers map[string]json.RawMessage `json:"buffers"`
}

// goldenModel is a case of models.json.
type goldenModel struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Hyper struct {
		Widths  []int `json:"widths"`
		Classes int   `json:"classes"`
	} `json:"hyper"`
	Mode      string     `json:"mode"`
	EdgeIndex [][]uint32 `json:"edge_index"`
	Inputs    struct {
		X golden.Tensor `json:"x"`
	} `json:"inputs"`
	Y           []int32                  `json:"y"`
	ClassWeight []float32                `json:"class_weight"`
	Params      map[string]golden.Tensor `json:"params"`
	Buffers     map[string]golden.Tensor `json:"buffers"`
	Atol        map[string]float64       `json:"atol"`
	Adam        *struct {
		Beta1       float64 `json:"beta1"`
		Beta2       float64 `json:"beta2"`
		Eps         float64 `json:"eps"`
		LR          float64 `json:"lr"`
		Steps       int     `json:"steps"`
		WeightDecay float64 `json:"weight_decay"`
	} `json:"adam"`
	Expect struct {
		Layers       map[string]golden.Tensor `json:"layers"`
		Logits       golden.Tensor            `json:"logits"`
		CrossEntropy float64                  `json:"cross_entropy"`
		Loss         float64                  `json:"loss"`
		Grads        struct {
			X      golden.Tensor            `json:"x"`
			Params map[string]golden.Tensor `json:"params"`
		} `json:"grads"`
		BuffersAfter map[string]json.RawMessage `json:"buffers_after"`
		Adam         map[string]json.RawMessage `json:"adam"`
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
			if c.config().Model != models.EllipticGIN {
				continue // one of the laboratory's
			}
			for name, form := range map[string]models.Form{
				"differentiable": models.Differentiable, "sparse": models.Sparse, "cached": models.Cached,
			} {
				t.Run(k.Name+"/"+c.Name+"/"+name, func(t *testing.T) {
					check := golden.Comparer{T: t, Rtol: file.Rtol, Atol: file.Atol, Special: c.Atol}
					c.checkGradients(t, c.program(t, k, form, true), check)
					if c.Adam != nil {
						c.checkAdam(t, k, form, check)
					}
				})
			}
		}
	}
}

func (c *goldenModel) config() Config {
	o := DefaultsOf(strings.ReplaceAll(c.Model, "_", "-"))
	o.LinearSkip, o.Classes = false, cmp.Or(c.Hyper.Classes, o.Classes)
	if w := c.Hyper.Widths; w != nil {
		o.Widths = w[1 : len(w)-1]
	}
	return o
}

// program compiles the case's model, loaded with its weights and its graph.
func (c *goldenModel) program(t *testing.T, k kernels.Set, form models.Form, training bool) *program {
	t.Helper()
	opts, cols := c.config(), c.Inputs.X.Shape[1]
	require.NoError(t, opts.Validate())
	shape := programShape{
		architecture: opts.Architecture(cols), settings: opts.Settings, form: form,
		capacity: capacityFor(len(c.Y)), training: training,
	}
	p, err := compile(models.Served(), shape, k)
	require.NoError(t, err)
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
	b := layers.NewBatch(len(c.Y), cols, features, golden.Undirected(c.EdgeIndex))
	b.Labels, b.ClassWeights = c.Y, c.ClassWeight
	if b.ClassWeights == nil {
		b.ClassWeights = slices.Repeat([]float32{1}, c.Hyper.Classes)
	}
	models.Served().Prepare(p.Architecture, b, form, features, k)
	p.Load(b)
	return p
}

func (c *goldenModel) checkGradients(t *testing.T, p *program, check golden.Comparer) {
	require.NoError(t, p.run())
	for name, want := range c.Expect.Layers {
		require.Contains(t, p.Marks, name)
		check.Values("layers/"+name, want, layers.Result(p.Marks[name])[:len(want.Data)])
	}
	check.Values("logits", c.Expect.Logits, layers.Result(p.Logits)[:len(c.Expect.Logits.Data)])
	check.Number("cross_entropy", c.Expect.CrossEntropy, p.Work.Loss)
	check.Number("loss", c.Expect.Loss, p.loss())
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

func (c *goldenModel) checkAdam(t *testing.T, k kernels.Set, form models.Form, check golden.Comparer) {
	opts := c.config()
	opts.LearningRate, opts.WeightDecay = c.Adam.LR, c.Adam.WeightDecay
	e := newEngine(t, opts, k)
	require.Equal(t, []float64{adamBeta1, adamBeta2, adamEpsilon}, []float64{c.Adam.Beta1, c.Adam.Beta2, c.Adam.Eps})
	p, state := c.program(t, k, form, true), e.fresh(0, c.Inputs.X.Shape[1])
	for step := 1; step <= c.Adam.Steps; step++ {
		path := fmt.Sprintf("adam/step%d/", step)
		var want goldenStep
		require.NoError(t, json.Unmarshal(c.Expect.Adam[fmt.Sprintf("step%d", step)], &want))
		require.NoError(t, e.step(&fitting{program: p, next: state, first: state.FirstMoment, second: state.SecondMoment}))
		check.Number(path+"loss", want.Loss, p.loss())
		for i, spec := range p.Params.Layout.Specs {
			check.Values(path+"params/"+spec.Name, want.Params[spec.Name], spec.ToTorch(p.Params.Slice(i)))
		}
		checkBuffers(t, p, path+"buffers/", want.Buffers, check)
		require.Equal(t, uint64(step), state.Batches)
	}
	var want golden.Tensor
	require.NoError(t, json.Unmarshal(c.Expect.Adam["eval_logits"], &want))
	if form == models.Differentiable {
		form = models.Cached
	}
	eval := c.program(t, k, form, false)
	copy(eval.Params.Values, p.Params.Values)
	copy(eval.Buffers.Values, p.Buffers.Values)
	require.NoError(t, eval.run())
	check.Values("adam/eval_logits", want, layers.Result(eval.Logits)[:len(want.Data)])
}
