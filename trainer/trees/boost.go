package trees

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/trainer/tabular"
)

// Report describes a fit.
type Report struct {
	// FirstLoss and FinalLoss are the weighted mean log-loss on the rows before the first and after the
	// last round.
	FirstLoss, FinalLoss float64
}

// Fit fits a new model to the rows. NaN means a missing value.
//
// Errors wrap tabular.ErrInvalidRows, tabular.ErrNoRows, those of the configuration or the context's.
func Fit(ctx context.Context, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := checkFit(rows, config); err != nil {
		return nil, Report{}, err
	}
	m := &Model{classes: config.Classes, features: rows.Cols}
	f := newFitter(m, rows, config)
	m.base = f.priors()
	return f.run(ctx)
}

// Extend returns a model with further rounds, fitted to the residuals of m on the rows. m is not
// changed. Errors are those of Fit.
func Extend(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := checkFit(rows, config); err != nil {
		return nil, Report{}, err
	}
	if m.classes != config.Classes || m.features != rows.Cols {
		return nil, Report{}, fmt.Errorf("%w: %d classes and %d features, the model has %d and %d",
			tabular.ErrInvalidRows, config.Classes, rows.Cols, m.classes, m.features)
	}
	next := *m
	next.base, next.trees = slices.Clone(m.base), slices.Clip(m.trees)
	return newFitter(&next, rows, config).run(ctx)
}

// Update continues a model on a stream: it extends m by UpdateRounds and drops the oldest rounds
// beyond MaxRounds. Errors are those of Fit.
func Update(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	config.Rounds = config.UpdateRounds
	next, report, err := Extend(ctx, m, rows, config)
	if err != nil {
		return nil, report, err
	}
	return next.Latest(config.MaxRounds), report, nil
}

func checkFit(rows tabular.Rows, config Config) error {
	if err := config.Validate(); err != nil {
		return fmt.Errorf("trees: %w", err)
	}
	return rows.Check(config.Classes)
}

// fitter is the state of a fit.
type fitter struct {
	rows    tabular.Rows
	config  Config
	model   *Model
	grower  *grower
	sampler *sampler
	boost   *booster
}

func newFitter(m *Model, rows tabular.Rows, config Config) *fitter {
	return &fitter{rows: rows, config: config, model: m, sampler: newSampler(rows, config.RowShare)}
}

// run adds the rounds of the configuration.
func (f *fitter) run(ctx context.Context) (*Model, Report, error) {
	m := f.model
	most := 1.0 // one more than the sum, which is truncated
	for _, n := range f.counts() {
		most += n
	}
	f.boost = newBooster(f)
	report := Report{FirstLoss: f.loss()}
	f.grower = newGrower(newBinned(f.rows, f.config.MaxBins), f.config, most/4) // p(1-p) is at most 1/4
	for range f.config.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		round := uint64(m.Rounds())
		bag, rest := f.sampler.draw(*lethe.NewDraw(f.config.Seed, "trees-rows", round), f.rows.Weight)
		f.grower.take(bag, f.grower.data.varying(drawFeatures(f.rows.Cols, int(round), f.config)))
		f.addTrees(rest)
	}
	m.compile()
	if report.FinalLoss = f.loss(); math.IsNaN(report.FinalLoss) || math.IsInf(report.FinalLoss, 0) {
		return nil, report, fmt.Errorf("loss is %g after %d rounds", report.FinalLoss, f.config.Rounds)
	}
	return m, report, nil
}
