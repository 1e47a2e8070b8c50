package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"lethe"
	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// Report says what a fit did.
type Report struct {
	// Loss is the weighted mean log-loss on the rows, without the penalty.
	Loss float64
	// Iterations counts the solver's steps.
	Iterations int
	// Converged is false if the solver stopped short of the tolerance; the model
	// is the best it found.
	Converged bool
}

// Fit learns from the rows. Missing values count as 0.
//
// Errors wrap tabular.ErrInvalidRows, tabular.ErrNoRows, those of the configuration or
// the context's.
func Fit(ctx context.Context, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := config.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("logistic: %w", err)
	}
	if err := rows.Check(config.Classes); err != nil {
		return nil, Report{}, err
	}
	rows.Features = lethe.ZeroMissing(rows.Features)
	p := newProblem(rows, config)
	settings := &optimize.Settings{
		GradientThreshold: config.Tolerance, MajorIterations: config.Iterations,
		Converger: &optimize.FunctionConverge{Relative: 1e-12, Iterations: 20},
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func:   p.loss,
		Grad:   p.gradient,
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}, make([]float64, p.model.outputs()*(rows.Cols+1)), settings, &optimize.LBFGS{})
	if cause := ctx.Err(); cause != nil {
		return nil, Report{}, cause
	}
	if result == nil {
		return nil, Report{}, fmt.Errorf("logistic solver: %w", err)
	}
	// A line search that cannot go further stands at the best point there is, to
	// within rounding.
	report := Report{Iterations: result.MajorIterations, Converged: err == nil && result.Status != optimize.IterationLimit}
	report.Loss, _ = p.evaluate(result.X, nil)
	if math.IsNaN(report.Loss) {
		return nil, report, errors.New("logistic solver: loss is not a number")
	}
	p.fold(result.X)
	return p.model, report, nil
}

// problem is the loss of a fit. Weights are laid out score by score, each
// followed by its intercept.
type problem struct {
	rows   tabular.Rows
	config Config
	model  *Model
	// inputs are the standardised rows; shift and scale are what they were
	// standardised by.
	inputs       []float64
	shift, scale []float64
	total        float64
	scores       []float64
}

func newProblem(rows tabular.Rows, config Config) *problem {
	p := &problem{rows: rows, config: config, model: &Model{classes: config.Classes, features: rows.Cols}}
	p.scores = make([]float64, p.model.outputs())
	n := float64(rows.Len())
	p.shift, p.scale = make([]float64, rows.Cols), make([]float64, rows.Cols)
	p.inputs = make([]float64, len(rows.Features))
	for f := range rows.Cols {
		sum, squares := 0.0, 0.0
		for i := range rows.Len() {
			sum += float64(rows.Row(i)[f])
		}
		p.shift[f] = sum / n
		for i := range rows.Len() {
			d := float64(rows.Row(i)[f]) - p.shift[f]
			squares += float64(d * d)
		}
		// A constant feature says nothing; its deviations are rounding.
		if p.scale[f] = math.Sqrt(squares / n); p.scale[f] <= 1e-12*math.Abs(p.shift[f]) {
			p.scale[f] = math.Inf(1)
		}
		for i := range rows.Len() {
			p.inputs[i*rows.Cols+f] = (float64(rows.Row(i)[f]) - p.shift[f]) / p.scale[f]
		}
	}
	for i := range rows.Len() {
		p.total += rows.Weight(i)
	}
	return p
}

// loss is the weighted mean log-loss plus the penalty over the total weight.
func (p *problem) loss(x []float64) float64 {
	mean, penalty := p.evaluate(x, nil)
	return mean + penalty
}

func (p *problem) gradient(into, x []float64) { p.evaluate(x, into) }

// evaluate returns both parts of the loss and, if asked, stores the gradient of
// their sum.
func (p *problem) evaluate(x, gradient []float64) (mean, penalty float64) {
	cols := p.rows.Cols
	clear(gradient)
	for i, class := range p.rows.Labels {
		row, w := p.inputs[i*cols:(i+1)*cols], p.rows.Weight(i)/p.total
		for c := range p.scores {
			p.scores[c] = affine(x[c*(cols+1):(c+1)*(cols+1)], row)
		}
		mean += float64(w * residuals(p.scores, int(class)))
		if gradient == nil {
			continue
		}
		for c, residual := range p.scores {
			g := gradient[c*(cols+1) : (c+1)*(cols+1)]
			step := float64(w * residual)
			for f, v := range row {
				g[f] += float64(step * v)
			}
			g[cols] += step
		}
	}
	l2 := p.config.L2 / p.total
	for k, v := range x {
		if k%(cols+1) == cols {
			continue
		}
		penalty += float64(l2 / 2 * float64(v*v))
		if gradient != nil {
			gradient[k] += float64(l2 * v)
		}
	}
	return mean, penalty
}

// residuals replaces scores by the derivatives of the log-loss, p - y, and
// returns the loss.
func residuals(scores []float64, class int) float64 {
	if len(scores) == 1 {
		z := scores[0]
		scores[0] = portable.Logistic(z) - float64(class)
		return portable.LogOnePlusExp(z * (1 - 2*float64(class)))
	}
	own := scores[class]
	loss := portable.Softmax(scores) - own
	scores[class]--
	return loss
}

// affine is w·row plus the intercept that follows the weights.
func affine(w, row []float64) float64 {
	sum := w[len(row)]
	for f, v := range row {
		sum += float64(w[f] * v)
	}
	return sum
}

// fold puts the standardisation into the weights, so that the model takes
// features as they are.
func (p *problem) fold(x []float64) {
	cols := p.rows.Cols
	for c := range p.scores {
		w := x[c*(cols+1) : (c+1)*(cols+1)]
		for f := range cols {
			w[f] /= p.scale[f]
			w[cols] -= float64(w[f] * p.shift[f])
		}
	}
	p.model.weights = x
}
