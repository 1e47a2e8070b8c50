package trainer

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
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
	Params map[string]goldenTensor   `json:"params"`
	Grads  []map[string]goldenTensor `json:"grads"`
	Logits goldenTensor              `json:"logits"`
	Y      []int32                   `json:"y"`
	Atol   map[string]float64        `json:"atol"`
	Expect struct {
		Steps []struct {
			Params map[string]goldenTensor `json:"params"`
			M      map[string]goldenTensor `json:"m"`
			V      map[string]goldenTensor `json:"v"`
		} `json:"steps"`
		Loss       *float64      `json:"loss"`
		GradLogits *goldenTensor `json:"grad_logits"`
	} `json:"expect"`
}

func TestGoldenOptim(t *testing.T) {
	file := readGolden(t, "optim.json")
	for _, raw := range file.Cases {
		var c goldenOptim
		require.NoError(t, json.Unmarshal(raw, &c))
		t.Run(c.Name, func(t *testing.T) {
			check := comparer{t: t, rtol: file.Rtol, atol: file.Atol, special: c.Atol}
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

func (c *goldenOptim) checkAdam(t *testing.T, check comparer) {
	a := adam{
		learningRate: c.Hyper.LR, weightDecay: c.Hyper.WeightDecay, decoupled: c.Op == "AdamW",
		beta1: c.Hyper.Beta1, beta2: c.Hyper.Beta2, epsilon: c.Hyper.Eps,
	}
	for name, initial := range c.Params {
		p := initial.floats()
		m, v := make([]float32, len(p)), make([]float32, len(p))
		for i, want := range c.Expect.Steps {
			require.True(t, a.at(uint64(i+1)).update(p, c.Grads[i][name].floats(), m, v))
			path := fmt.Sprintf("steps/%d/", i)
			check.values(path+"params/"+name, want.Params[name], p)
			check.values(path+"m/"+name, want.M[name], m)
			check.values(path+"v/"+name, want.V[name], v)
		}
	}
}

func (c *goldenOptim) checkCrossEntropy(t *testing.T, check comparer) {
	rows, cols := c.Logits.Shape[0], c.Logits.Shape[1]
	b := newBuilder(kernels.Portable{}, rows, true, 0)
	logits := b.input("logits", dense(c.Logits.floats(), rows, cols), true)
	b.work.batch = &batch{rows: rows, cols: cols, labels: c.Y, classWeights: c.Hyper.ClassWeight}
	if c.Hyper.ClassWeight == nil {
		b.work.batch.classWeights = make([]float32, cols)
		fill(b.work.batch.classWeights, 1)
	}
	grads := b.gradients(b.crossEntropy(logits), gorgonia.Nodes{logits})
	require.NoError(t, b.err)
	err := gorgonia.NewTapeMachine(b.graph).RunAll()
	if c.Expect.Loss == nil {
		require.Error(t, err)
		require.ErrorIs(t, b.work.failure, ErrNoLabels)
		return
	}
	require.NoError(t, err)
	check.number("loss", *c.Expect.Loss, b.work.loss)
	check.values("grad_logits", *c.Expect.GradLogits, floats(resultOf(grads[0])))
}
