package lbfgs

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"
	"pgregory.net/rapid"

	"lethe/internal/portable"
)

// rosenbrock is the sum over neighbours of 100 (x' - x²)² + (1 - x)²: a bent valley with its
// minimum 0 where every x is 1.
func rosenbrock() Problem {
	return Problem{
		Value: func(x []float64) float64 {
			sum := 0.0
			for i := range len(x) - 1 {
				a, b := x[i+1]-float64(x[i]*x[i]), 1-x[i]
				sum += float64(100*float64(a*a)) + float64(b*b)
			}
			return sum
		},
		Gradient: func(into, x []float64) {
			clear(into)
			for i := range len(x) - 1 {
				a, b := x[i+1]-float64(x[i]*x[i]), 1-x[i]
				into[i] -= float64(400*float64(a*x[i])) + float64(2*b)
				into[i+1] += float64(200 * a)
			}
		},
	}
}

// losses is the sum of ln(1 + e^z) - target z over rows, with a square that pulls towards 0.
func losses(cols int, inputs, targets []float64, pull float64) Problem {
	score := func(x, row []float64) (z float64) {
		for f, v := range row {
			z += float64(v * x[f])
		}
		return z
	}
	return Problem{
		Value: func(x []float64) float64 {
			sum := float64(float64(pull/2) * dot(x, x))
			for i, target := range targets {
				z := score(x, inputs[i*cols:(i+1)*cols])
				sum += portable.LogOnePlusExp(z) - float64(target*z)
			}
			return sum
		},
		Gradient: func(into, x []float64) {
			for f, v := range x {
				into[f] = float64(pull * v)
			}
			for i, target := range targets {
				row := inputs[i*cols : (i+1)*cols]
				d := portable.Logistic(score(x, row)) - target
				for f, v := range row {
					into[f] += float64(d * v)
				}
			}
		},
	}
}

func drawLosses(t *rapid.T) (p Problem, cols int) {
	cols = rapid.IntRange(1, 11).Draw(t, "cols")
	rows := rapid.IntRange(1, 20).Draw(t, "rows")
	inputs := rapid.SliceOfN(rapid.Float64Range(-5, 5), rows*cols, rows*cols).Draw(t, "inputs")
	targets := rapid.SliceOfN(rapid.Float64Range(0, 1), rows, rows).Draw(t, "targets")
	return losses(cols, inputs, targets, rapid.Float64Range(1e-4, 3).Draw(t, "pull")), cols
}

// The steps are gonum's, to the bit, where its sums run in the order that ours have.
func TestStepsAreThoseOfGonum(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("gonum adds in another order here")
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rosenbrock()
		var start []float64
		if rapid.Bool().Draw(t, "valley") {
			start = rapid.SliceOfN(rapid.Float64Range(-3, 3), 2, 12).Draw(t, "start")
		} else {
			var cols int
			p, cols = drawLosses(t)
			start = make([]float64, cols)
		}
		points := rapid.SampledFrom([]int{1, 2, 7, 300}).Draw(t, "points")
		o := Options{Points: points, Tolerance: 1e-7, Gain: 1e-12, Patience: 20}
		got, err := Minimise(t.Context(), p, start, o)
		require.NoError(t, err)
		want, err := optimize.Minimize(optimize.Problem{Func: p.Value, Grad: p.Gradient}, start, &optimize.Settings{
			GradientThreshold: o.Tolerance, MajorIterations: o.Points,
			Converger: &optimize.FunctionConverge{Relative: o.Gain, Iterations: o.Patience},
		}, &optimize.LBFGS{})
		require.NotNil(t, want)
		require.Equal(t, want.X, got.X)
		require.Equal(t, want.MajorIterations, got.Points)
		require.Equal(t, err == nil && want.Status != optimize.IterationLimit, got.Converged)
	})
}

// Every step lowers the value, and the end is a minimum.
func TestMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, cols := drawLosses(t)
		o := Options{Points: 1000, Tolerance: 1e-6, Gain: 1e-13, Patience: 50}
		before := p.Value(make([]float64, cols))
		for _, o.Points = range []int{2, 4, 8, 1000} {
			r, err := Minimise(t.Context(), p, make([]float64, cols), o)
			require.NoError(t, err)
			require.LessOrEqual(t, r.Points, o.Points)
			after := p.Value(r.X)
			require.LessOrEqual(t, after, before)
			before = after
			if o.Points == 1000 {
				gradient := make([]float64, cols)
				p.Gradient(gradient, r.X)
				require.Less(t, largest(gradient), 1e-4)
			}
		}
	})
}

// The bits in testdata/steps were made on amd64, and every processor has to make the same:
// checkpoints rest on them. -rewrite is no remedy if this fails.
func TestStepsHaveTheSameBitsEverywhere(t *testing.T) {
	datadriven.RunTest(t, "testdata/steps", func(t *testing.T, d *datadriven.TestData) string {
		var n int
		d.ScanArgs(t, "n", &n)
		p, start := rosenbrock(), make([]float64, n)
		if d.Cmd == "losses" {
			inputs, targets := make([]float64, 40*n), make([]float64, 40)
			for i := range inputs {
				inputs[i] = float64(i*7919%1000)/250 - 2
			}
			for i := range targets {
				targets[i] = float64(i * 31 % 2)
			}
			p = losses(n, inputs, targets, 0.01)
		} else {
			for i := range start {
				start[i] = -1.2 + float64(i%3)
			}
		}
		r, err := Minimise(t.Context(), p, start, Options{Points: 200, Tolerance: 1e-8, Gain: 1e-12, Patience: 20})
		require.NoError(t, err)
		out := &strings.Builder{}
		fmt.Fprintf(out, "%d points, converged %t\n", r.Points, r.Converged)
		for _, v := range r.X {
			fmt.Fprintf(out, "%016x %.6f\n", math.Float64bits(v), v)
		}
		return out.String()
	})
}

// What is no number is never stepped to, and what gains nothing ends.
func TestItEndsWhereNumbersDo(t *testing.T) {
	o := Options{Points: 100, Tolerance: 1e-9, Gain: 1e-12, Patience: 20}
	for name, p := range map[string]Problem{
		"no value": {
			func([]float64) float64 { return math.NaN() }, func(into, _ []float64) { into[0] = 1 },
		},
		"no derivative": {
			func([]float64) float64 { return 0 }, func(into, _ []float64) { into[0] = math.Inf(1) },
		},
		"a derivative that is not the value's": {
			func(x []float64) float64 { return math.Abs(x[0]) }, func(into, _ []float64) { into[0] = 1 },
		},
		"no number beyond 1": {
			func(x []float64) float64 { return -math.Sqrt(1-x[0]*x[0]) - x[0] },
			func(into, x []float64) { into[0] = x[0]/math.Sqrt(1-x[0]*x[0]) - 1 },
		},
	} {
		r, err := Minimise(t.Context(), p, []float64{0}, o)
		require.NoError(t, err, name)
		require.False(t, math.IsNaN(r.X[0]), name)
		require.Less(t, r.Points, 20, name)
	}
	flat := Problem{func([]float64) float64 { return 7 }, func([]float64, []float64) {}}
	r, err := Minimise(t.Context(), flat, []float64{3}, o)
	require.NoError(t, err)
	require.Equal(t, Result{X: []float64{3}, Points: 1, Converged: true}, r)
}

func TestItStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := rosenbrock()
	value, asked := p.Value, 0
	p.Value = func(x []float64) float64 {
		if asked++; asked == 5 {
			cancel()
		}
		return value(x)
	}
	_, err := Minimise(ctx, p, []float64{-1, 2, -1}, Options{Points: 100, Tolerance: 1e-9, Gain: 1e-12, Patience: 20})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 5, asked)
}
