package trainer

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/trainer/kernels"
)

// goldenStep is the state after one step of Adam.
type goldenStep struct {
	Loss    float64                    `json:"loss"`
	Params  map[string]goldenTensor    `json:"params"`
	Buffers map[string]json.RawMessage `json:"buffers"`
}

// goldenModel is a case of models.json.
type goldenModel struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Hyper struct {
		Widths []int `json:"widths"`
	} `json:"hyper"`
	EdgeIndex [][]uint32 `json:"edge_index"`
	Inputs    struct {
		X goldenTensor `json:"x"`
	} `json:"inputs"`
	Y           []int32                 `json:"y"`
	ClassWeight []float32               `json:"class_weight"`
	Params      map[string]goldenTensor `json:"params"`
	Buffers     map[string]goldenTensor `json:"buffers"`
	Atol        map[string]float64      `json:"atol"`
	Adam        struct {
		Beta1       float64 `json:"beta1"`
		Beta2       float64 `json:"beta2"`
		Eps         float64 `json:"eps"`
		LR          float64 `json:"lr"`
		Steps       int     `json:"steps"`
		WeightDecay float64 `json:"weight_decay"`
	} `json:"adam"`
	Expect struct {
		Layers       map[string]goldenTensor `json:"layers"`
		Logits       goldenTensor            `json:"logits"`
		CrossEntropy float64                 `json:"cross_entropy"`
		Loss         float64                 `json:"loss"`
		Grads        struct {
			X      goldenTensor            `json:"x"`
			Params map[string]goldenTensor `json:"params"`
		} `json:"grads"`
		BuffersAfter map[string]json.RawMessage `json:"buffers_after"`
		Adam         map[string]json.RawMessage `json:"adam"`
	} `json:"expect"`
}

func TestGoldenEllipticGIN(t *testing.T) {
	file := readGolden(t, "models.json")
	for _, k := range kernelSets(t) {
		ran := 0
		for _, raw := range file.Cases {
			var c goldenModel
			require.NoError(t, json.Unmarshal(raw, &c))
			if c.Model != "elliptic_gin" {
				continue
			}
			ran++
			t.Run(k.Name()+"/"+c.Name, func(t *testing.T) {
				check := comparer{t: t, rtol: file.Rtol, atol: file.Atol, special: c.Atol}
				p := c.program(t, k, true)
				c.checkGradients(t, p, check)
				c.checkAdam(t, c.program(t, k, true), k, check)
			})
		}
		require.Positive(t, ran, "the file holds no elliptic_gin")
	}
}

// program compiles the case's model, loaded with its weights and its graph.
func (c *goldenModel) program(t *testing.T, k kernels.Set, training bool) *program {
	t.Helper()
	w := c.Hyper.Widths
	require.Len(t, w, hiddenLayers+2)
	shape := programShape{
		architecture: architecture{features: w[0], classes: w[len(w)-1], widths: [hiddenLayers]int(w[1:])},
		capacity:     capacityFor(len(c.Y)), training: training, gradFeatures: training,
	}
	p, err := compile(shape, k)
	require.NoError(t, err)
	require.Len(t, c.Params, len(p.params.layout.specs), "parameter names")
	require.Len(t, c.Buffers, len(p.buffers.layout.specs), "buffer names")
	for i, spec := range p.params.layout.specs {
		require.Equal(t, c.Params[spec.name].Shape, spec.shape, spec.name)
		copy(p.params.slice(i), c.Params[spec.name].floats())
	}
	for i, spec := range p.buffers.layout.specs {
		copy(p.buffers.slice(i), c.Buffers[spec.name].floats())
	}
	b := newBatch(Input{Rows: len(c.Y), Cols: w[0], Features: c.Inputs.X.floats(), Edges: undirected(c.EdgeIndex)}, k)
	b.labels, b.classWeights = c.Y, c.ClassWeight
	if b.classWeights == nil {
		b.classWeights = []float32{1, 1}
	}
	p.load(b)
	return p
}

func (c *goldenModel) checkGradients(t *testing.T, p *program, check comparer) {
	require.NoError(t, p.run())
	marks := make(map[string][]float32)
	for _, m := range p.marks {
		value := resultOf(m.node)
		marks[m.name] = floats(value)[:len(c.Y)*value.Shape()[1]]
	}
	for name, want := range c.Expect.Layers {
		require.Contains(t, marks, name)
		check.values("layers/"+name, want, marks[name])
	}
	check.values("logits", c.Expect.Logits, marks["logits"])
	check.number("cross_entropy", c.Expect.CrossEntropy, p.work.loss)
	check.number("loss", c.Expect.Loss, p.work.loss)
	require.Len(t, c.Expect.Grads.Params, len(p.params.layout.specs))
	for i, spec := range p.params.layout.specs {
		check.values("grads/params/"+spec.name, c.Expect.Grads.Params[spec.name], p.gradients[i])
	}
	check.values("grads/x", c.Expect.Grads.X, p.gradients[len(p.gradients)-1][:len(c.Inputs.X.Data)])
	if c.Expect.BuffersAfter != nil {
		checkBuffers(t, p, "buffers_after/", c.Expect.BuffersAfter, check)
	}
}

func checkBuffers(t *testing.T, p *program, path string, want map[string]json.RawMessage, check comparer) {
	for i, spec := range p.buffers.layout.specs {
		var w goldenTensor
		require.Contains(t, want, spec.name)
		require.NoError(t, json.Unmarshal(want[spec.name], &w))
		check.values(path+spec.name, w, p.buffers.slice(i))
	}
}

func (c *goldenModel) checkAdam(t *testing.T, p *program, k kernels.Set, check comparer) {
	w := c.Hyper.Widths
	e := newEngine(t, Options{
		Widths: w[1 : 1+hiddenLayers], NoLinearSkip: true, LearningRate: c.Adam.LR, WeightDecay: c.Adam.WeightDecay,
		NoWeightDecay: c.Adam.WeightDecay == 0,
	}, k)
	require.Equal(t, []float64{adamBeta1, adamBeta2, adamEpsilon}, []float64{c.Adam.Beta1, c.Adam.Beta2, c.Adam.Eps})
	state := e.fresh(0, w[0])
	for step := 1; step <= c.Adam.Steps; step++ {
		path := fmt.Sprintf("adam/step%d/", step)
		var want goldenStep
		require.NoError(t, json.Unmarshal(c.Expect.Adam[fmt.Sprintf("step%d", step)], &want))
		require.NoError(t, e.step(p, state))
		check.number(path+"loss", want.Loss, p.work.loss)
		for i, spec := range p.params.layout.specs {
			check.values(path+"params/"+spec.name, want.Params[spec.name], p.params.slice(i))
		}
		checkBuffers(t, p, path+"buffers/", want.Buffers, check)
		var tracked uint64
		require.NoError(t, json.Unmarshal(want.Buffers["batchnorm1.num_batches_tracked"], &tracked))
		require.Equal(t, tracked, state.Batches)
	}
	var want goldenTensor
	require.NoError(t, json.Unmarshal(c.Expect.Adam["eval_logits"], &want))
	eval := c.program(t, k, false)
	copy(eval.params.values, p.params.values)
	copy(eval.buffers.values, p.buffers.values)
	require.NoError(t, eval.run())
	check.values("adam/eval_logits", want, eval.logits.Float32s()[:len(want.Data)])
}
