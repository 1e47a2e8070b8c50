package trainer

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe/internal/golden"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// goldenOptim is a case of optim.json.
type goldenOptim struct {
	Name  string `json:"name"`
	Op    string `json:"op"`
	Hyper struct {
		Beta1       float64   `json:"beta1"`
		Beta2       float64   `json:"beta2"`
		Eps         float64   `json:"eps"`
		LR          float64   `json:"lr"`
		WeightDecay float64   `json:"weight_decay"`
		ClassWeight []float32 `json:"class_weight"`
	} `json:"hyper"`
	Params map[string]golden.Tensor   `json:"params"`
	Grads  []map[string]golden.Tensor `json:"grads"`
	Logits golden.Tensor              `json:"logits"`
	Y      []int32                    `json:"y"`
	Atol   map[string]float64         `json:"atol"`
	Expect struct {
		Steps []struct {
			Params map[string]golden.Tensor `json:"params"`
			M      map[string]golden.Tensor `json:"m"`
			V      map[string]golden.Tensor `json:"v"`
		} `json:"steps"`
		Loss       *float64       `json:"loss"`
		GradLogits *golden.Tensor `json:"grad_logits"`
	} `json:"expect"`
}

func TestGoldenOptim(t *testing.T) {
	golden.Each(t, "optim.json", goldenOptimCases)
}

func goldenOptimCases(t *testing.T, file golden.File) {
	t.Helper()
	require.NotEmpty(t, file.Cases)
	for _, raw := range file.Cases {
		var c goldenOptim
		require.NoError(t, json.Unmarshal(raw, &c))
		t.Run(c.Name, func(t *testing.T) {
			check := golden.Comparer{T: t, Rtol: file.Rtol, Atol: file.Atol, Special: c.Atol}
			switch c.Op {
			case "Adam", "AdamW":
				c.checkAdam(t, check)
			case "CrossEntropy":
				c.checkCrossEntropy(t, check)
			default:
				t.Skipf("no operation %s here", c.Op)
			}
		})
	}
}

func (c *goldenOptim) checkAdam(t *testing.T, check golden.Comparer) {
	a := adam{
		learningRate: c.Hyper.LR, weightDecay: c.Hyper.WeightDecay, decoupled: c.Op == "AdamW",
		beta1: c.Hyper.Beta1, beta2: c.Hyper.Beta2, epsilon: c.Hyper.Eps,
	}
	for name, initial := range c.Params {
		p := initial.Floats()
		m, v := make([]float32, len(p)), make([]float32, len(p))
		for i, want := range c.Expect.Steps {
			update := a.at(uint64(i + 1))
			require.True(t, kernels.Default().Optimiser.Adam(&update, p, c.Grads[i][name].Floats(), m, v))
			path := fmt.Sprintf("steps/%d/", i)
			check.Values(path+"params/"+name, want.Params[name], p)
			check.Values(path+"m/"+name, want.M[name], m)
			check.Values(path+"v/"+name, want.V[name], v)
		}
	}
}

func (c *goldenOptim) checkCrossEntropy(t *testing.T, check golden.Comparer) {
	rows, cols := c.Logits.Shape[0], c.Logits.Shape[1]
	b := layers.NewBuilder(kernels.Portable(), rows, true)
	logits := b.Input("logits", c.Logits.Floats(), true, rows, cols)
	b.Work.Batch = &layers.Batch{Rows: rows, Labels: c.Y, ClassWeights: c.Hyper.ClassWeight}
	if c.Hyper.ClassWeight == nil {
		b.Work.Batch.ClassWeights = slices.Repeat([]float32{1}, cols)
	}
	grads := b.Gradients(layers.CrossEntropy(b, logits), gorgonia.Nodes{logits})
	plan, err := b.Plan()
	require.NoError(t, err)
	err = plan.Run()
	if c.Expect.Loss == nil {
		require.ErrorIs(t, err, layers.ErrNoLabels)
		return
	}
	require.NoError(t, err)
	check.Number("loss", *c.Expect.Loss, b.Work.Loss)
	check.Values("grad_logits", *c.Expect.GradLogits, layers.Result(grads[0]))
}
