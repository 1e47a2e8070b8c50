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
	// FirstLoss and FinalLoss are the weighted mean loss on the rows before the first and after the
	// last round: log-loss or, for forests, the squared error of the probabilities, summed over the
	// classes.
	FirstLoss, FinalLoss float64
}

// Fit fits a new model to the rows. NaN means a missing value.
//
// Errors wrap tabular.ErrInvalidRows, tabular.ErrNoRows, those of the configuration or the context's.
func Fit(ctx context.Context, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := checkFit(rows, config); err != nil {
		return nil, Report{}, err
	}
	m := &Model{averages: !config.boosts(), classes: config.Classes, features: rows.Cols}
	f := newFitter(m, rows, config)
	m.base = f.base()
	return f.run(ctx)
}

// Extend returns a model with further rounds: boosted trees are fitted to the residuals of m on
// the rows, forests get further trees. m is not changed. Errors are those of Fit.
func Extend(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := checkFit(rows, config); err != nil {
		return nil, Report{}, err
	}
	if m.classes != config.Classes || m.features != rows.Cols || m.averages == config.boosts() {
		return nil, Report{}, fmt.Errorf("%w: %q of %d classes and %d features, the model is another or has %d and %d",
			tabular.ErrInvalidRows, config.Kind, config.Classes, rows.Cols, m.classes, m.features)
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
	if err := rows.Check(config.Classes); err != nil {
		return err
	}
	total := 0.0
	for _, w := range weightsOf(rows, config) {
		total += w
	}
	if total > tabular.MaxTotalWeight {
		return fmt.Errorf("%w: with positive_weight weights add up to %g, want at most %d",
			tabular.ErrInvalidRows, total, tabular.MaxTotalWeight)
	}
	return nil
}

// fitter is the state of a fit.
type fitter struct {
	rows   tabular.Rows
	config Config
	model  *Model
	// weights are the weights of rows times those of their classes, nil if all are 1.
	weights []float64
	grower  *grower
	sampler *sampler
	// boost is nil for forests.
	boost *booster
}

func newFitter(m *Model, rows tabular.Rows, config Config) *fitter {
	f := &fitter{rows: rows, config: config, model: m, weights: weightsOf(rows, config)}
	f.sampler = newSampler(rows, config.RowShare)
	return f
}

// weight returns the weight of a row.
func (f *fitter) weight(i int) float64 {
	if f.weights == nil {
		return 1
	}
	return f.weights[i]
}

// run adds the rounds of the configuration.
func (f *fitter) run(ctx context.Context) (*Model, Report, error) {
	m := f.model
	together, most := 1, 1.0 // one more than the sum, which is truncated
	for _, n := range f.counts() {
		most += n
	}
	if m.averages {
		together = m.outputs()
	} else {
		most /= 4 // p(1-p) is at most 1/4
		f.boost = newBooster(f)
	}
	report := Report{FirstLoss: f.loss()}
	f.grower = newGrower(newBinned(f.rows, f.config.MaxBins), f.config, together, most)
	for range f.config.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		round := uint64(m.Rounds())
		bag, rest := f.sampler.draw(*lethe.NewDraw(f.config.Seed, "trees-rows", round), f.weight)
		f.grower.take(bag, f.grower.data.varying(drawFeatures(f.rows.Cols, int(round), f.config)))
		path := *lethe.NewDraw(f.config.Seed, "trees-path", round)
		if m.averages {
			f.addForest(path)
		} else {
			f.addBoosted(path, rest)
		}
	}
	m.compile()
	if report.FinalLoss = f.loss(); math.IsNaN(report.FinalLoss) || math.IsInf(report.FinalLoss, 0) {
		return nil, report, fmt.Errorf("loss is %g after %d rounds", report.FinalLoss, f.config.Rounds)
	}
	return m, report, nil
}

// base returns the scores of a model without trees.
func (f *fitter) base() []float64 {
	if f.model.averages {
		return f.frequencies()
	}
	return f.priors()
}
