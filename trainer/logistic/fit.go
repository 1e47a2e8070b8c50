package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"lethe"
	"lethe/trainer/internal/lbfgs"
	"lethe/trainer/tabular"
)

// Report describes a fit.
type Report struct {
	// Loss is the weighted mean log-loss on the rows, without the penalty.
	Loss float64
	// Iterations counts the solver's steps.
	Iterations int
	// Converged is false if the solver stopped before reaching the tolerance; the model is the best
	// one found.
	Converged bool
}

// Fit fits a model to the rows. Missing values count as 0.
//
// Errors wrap tabular.ErrInvalidRows, tabular.ErrNoRows, those of the configuration or the
// context's.
func Fit(ctx context.Context, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := config.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("logistic: %w", err)
	}
	if err := rows.Check(config.Classes); err != nil {
		return nil, Report{}, err
	}
	rows.Features = lethe.ZeroMissing(rows.Features)
	p := newProblem(rows, config)
	result, err := lbfgs.Minimise(ctx, lbfgs.Problem{Value: p.loss, Gradient: p.gradient},
		make([]float64, p.model.outputs()*(rows.Cols+1)), lbfgs.Options{
			Points: config.Iterations, Tolerance: config.Tolerance, Gain: 1e-12, Patience: 20,
		})
	if err != nil {
		return nil, Report{}, err
	}
	// If the line search makes no further progress, its point is optimal to within rounding.
	report := Report{Iterations: result.Points, Converged: result.Converged}
	p.evaluate(result.X)
	report.Loss = p.mean
	if math.IsNaN(report.Loss) {
		return nil, report, errors.New("logistic solver: loss is not a number")
	}
	p.fold(result.X)
	return p.model, report, nil
}

// fold merges the standardisation into the weights, so that the model accepts raw features.
func (p *problem) fold(x []float64) {
	cols := p.rows.Cols
	for c := range p.model.outputs() {
		w := x[c*(cols+1) : (c+1)*(cols+1)]
		for f := range cols {
			w[f] /= p.scale[f]
			w[cols] -= float64(w[f] * p.shift[f])
		}
	}
	p.model.weights = x
}
