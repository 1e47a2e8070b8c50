package regression

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/golden"
)

type goldenFits struct {
	Cases []struct {
		Name, Kind  string
		L2          float64
		InterceptL2 float64 `json:"intercept_l2"`
		Y           []float64
		Logits      golden.Tensor
		Expect      struct {
			Coefficients []float64
			Intercept    float64
		}
	}
}

// The plain cases are scikit-learn's LogisticRegression.
func TestGoldenRegressions(t *testing.T) {
	golden.Each(t, "stack.json", func(t *testing.T, file goldenFits) {
		require.NotEmpty(t, file.Cases)
		for _, c := range file.Cases {
			columns := c.Logits.Shape[1]
			p := Problem{
				Inputs: c.Logits.Data, Targets: c.Y, Centre: make([]float64, columns), Lowest: make([]float64, columns),
				L2: c.L2, InterceptL2: c.InterceptL2,
			}
			for k := range columns {
				if c.Kind == "plain" {
					p.Lowest[k] = math.Inf(-1)
				} else {
					p.Centre[k] = 1 / float64(columns)
				}
			}
			w, b := Minimise(p)
			require.InDeltaSlice(t, c.Expect.Coefficients, w, 2e-5, c.Name)
			require.InDelta(t, c.Expect.Intercept, b, 2e-5, c.Name)
		}
	})
}

func drawProblem(t *rapid.T) Problem {
	columns := rapid.IntRange(1, 4).Draw(t, "columns")
	p := Problem{
		L2:          rapid.SampledFrom([]float64{0.01, 1, 20}).Draw(t, "l2"),
		InterceptL2: rapid.SampledFrom([]float64{0.01, 1}).Draw(t, "intercept_l2"),
	}
	for range columns {
		p.Centre = append(p.Centre, rapid.Float64Range(-1, 2).Draw(t, "centre"))
		p.Lowest = append(p.Lowest, rapid.SampledFrom([]float64{math.Inf(-1), 0, 0.5}).Draw(t, "lowest"))
	}
	for range rapid.IntRange(0, 20).Draw(t, "rows") {
		for range columns {
			p.Inputs = append(p.Inputs, rapid.Float64Range(-16, 16).Draw(t, "input"))
		}
		p.Targets = append(p.Targets, rapid.SampledFrom([]float64{0, 0.1, 0.8, 1}).Draw(t, "target"))
	}
	return p
}

// At the minimum the gradient vanishes where no bound holds, and points out of the
// bounds where one does (Karush, Kuhn and Tucker), which for a convex function is
// enough.
func TestMinimumMeetsTheConditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		w, b := Minimise(p)
		columns := len(w)
		at := append(slices.Clone(w), b)
		gradient, hessian := make([]float64, columns+1), make([]float64, (columns+1)*(columns+1))
		p.derivatives(at, gradient, hessian)
		for k, lowest := range p.Lowest {
			require.GreaterOrEqual(t, w[k], lowest)
			if w[k] > lowest {
				require.InDelta(t, 0, gradient[k], 1e-5)
			} else {
				require.GreaterOrEqual(t, gradient[k], -1e-5)
			}
		}
		require.InDelta(t, 0, gradient[columns], 1e-5)
	})
}

func TestDerivativesAgreeWithDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		n := len(p.Centre) + 1
		at := make([]float64, n)
		for k := range at {
			at[k] = rapid.Float64Range(-0.2, 0.2).Draw(t, "at")
		}
		gradient, hessian := make([]float64, n), make([]float64, n*n)
		p.derivatives(at, gradient, hessian)
		beside, unused := make([]float64, n), make([]float64, n*n)
		const h = 1e-5
		for k := range at {
			moved := slices.Clone(at)
			moved[k] += h
			above := p.objective(moved)
			p.derivatives(moved, beside, unused)
			moved[k] -= 2 * h
			require.InDelta(t, (above-p.objective(moved))/(2*h), gradient[k], 1e-4)
			for j := range at {
				// A forward difference is off by the third derivative, at most 16³/10 a row.
				require.InDelta(t, (beside[j]-gradient[j])/h, hessian[k*n+j], 0.1)
			}
		}
	})
}

func TestLengthsMustFit(t *testing.T) {
	require.Panics(t, func() { Minimise(Problem{Centre: []float64{1}, Lowest: []float64{0}, Inputs: []float64{1}}) })
	require.Panics(t, func() { Minimise(Problem{Centre: []float64{1}}) })
}
