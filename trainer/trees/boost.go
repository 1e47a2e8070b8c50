package trees

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// Report says what a fit did.
type Report struct {
	// FirstLoss and FinalLoss are the weighted mean log-loss on the rows before
	// the first and after the last round.
	FirstLoss, FinalLoss float64
}

// Fit boosts a new model on the rows, starting from the classes' frequencies.
//
// Errors wrap tabular.ErrInvalidRows, tabular.ErrNoRows, those of the configuration or the context's.
func Fit(ctx context.Context, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := config.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("trees: %w", err)
	}
	if err := rows.Check(config.Classes); err != nil {
		return nil, Report{}, err
	}
	return boost(ctx, &Model{classes: config.Classes, features: rows.Cols, base: priors(rows, config.Classes)}, rows,
		config)
}

// Extend returns a model with further rounds, fitted on the rows to what m
// leaves to be explained. m is not changed. Errors are those of Fit.
func Extend(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	if err := config.Validate(); err != nil {
		return nil, Report{}, fmt.Errorf("trees: %w", err)
	}
	if err := rows.Check(config.Classes); err != nil {
		return nil, Report{}, err
	}
	if m.classes != config.Classes || m.features != rows.Cols {
		return nil, Report{}, fmt.Errorf("%w: %d classes and %d features, the model has %d and %d",
			tabular.ErrInvalidRows, config.Classes, rows.Cols, m.classes, m.features)
	}
	next := *m
	next.base, next.trees = slices.Clone(m.base), slices.Clip(m.trees)
	return boost(ctx, &next, rows, config)
}

// Update goes on from a model along a stream: it extends m by UpdateRounds and
// drops the oldest rounds beyond MaxRounds. Errors are those of Fit.
func Update(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	config.Rounds = config.UpdateRounds
	next, report, err := Extend(ctx, m, rows, config)
	if err != nil {
		return nil, report, err
	}
	return next.Latest(config.MaxRounds), report, nil
}

// booster is the state of a fit.
type booster struct {
	rows  tabular.Rows
	model *Model
	// scores are the model's, row-major.
	scores []float64
	// residuals are p - y per row and score, and curvatures p(1-p).
	residuals, curvatures []float64
}

// boost adds rounds to a model.
func boost(ctx context.Context, m *Model, rows tabular.Rows, config Config) (*Model, Report, error) {
	n, outputs := len(rows.Labels), m.outputs()
	b := &booster{rows: rows, model: m, scores: make([]float64, n*outputs)}
	b.residuals, b.curvatures = make([]float64, n*outputs), make([]float64, n*outputs)
	for i := range n {
		m.score(rows.Row(i), b.scores[i*outputs:(i+1)*outputs])
	}
	report := Report{FirstLoss: b.loss()}
	g := newGrower(newBinned(rows, config.MaxBins), config)
	for range config.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		b.differentiate()
		g.features = g.data.varying(drawFeatures(rows.Cols, len(m.trees)/outputs, config))
		for c := range outputs {
			for i := range n {
				w := rows.Weight(i)
				g.gradients[i] = fixed(w * b.residuals[i*outputs+c])
				g.hessians[i] = fixed(w * b.curvatures[i*outputs+c])
			}
			m.trees = append(m.trees, g.grow())
			g.leaves(func(rows []int32, value float32) {
				for _, i := range rows {
					b.scores[int(i)*outputs+c] += float64(value)
				}
			})
		}
	}
	if report.FinalLoss = b.loss(); math.IsNaN(report.FinalLoss) || math.IsInf(report.FinalLoss, 0) {
		return nil, report, fmt.Errorf("loss is %g after %d rounds", report.FinalLoss, config.Rounds)
	}
	return m, report, nil
}

// differentiate computes the derivatives at the present scores.
func (b *booster) differentiate() {
	outputs := b.model.outputs()
	for i, class := range b.rows.Labels {
		scores := b.scores[i*outputs : (i+1)*outputs]
		residual, curvature := b.residuals[i*outputs:(i+1)*outputs], b.curvatures[i*outputs:(i+1)*outputs]
		if outputs == 1 {
			p := portable.Logistic(scores[0])
			residual[0], curvature[0] = p-float64(class), float64(p*(1-p))
			continue
		}
		copy(residual, scores)
		portable.Softmax(residual)
		for c, p := range residual {
			curvature[c] = float64(p * (1 - p))
		}
		residual[class]--
	}
}

// loss is the weighted mean log-loss at the present scores.
func (b *booster) loss() float64 {
	outputs := b.model.outputs()
	scores := make([]float64, outputs)
	loss, weight := 0.0, 0.0
	for i, class := range b.rows.Labels {
		w := b.rows.Weight(i)
		copy(scores, b.scores[i*outputs:(i+1)*outputs])
		if outputs == 1 {
			loss += float64(w * portable.LogOnePlusExp(scores[0]*(1-2*float64(class))))
		} else {
			own := scores[class]
			loss += float64(w * (portable.Softmax(scores) - own))
		}
		weight += w
	}
	return loss / weight
}

// priors are the scores of a model without trees: the logarithms of the
// classes' weighted frequencies, for two classes of their ratio. Each class
// gets half a row more than it has, so that a missing one stays possible.
func priors(rows tabular.Rows, classes int) []float64 {
	counts := make([]float64, classes)
	for i, class := range rows.Labels {
		counts[class] += rows.Weight(i)
	}
	base := make([]float64, classes)
	for c, n := range counts {
		base[c] = portable.Log(n + 0.5)
	}
	if classes == 2 {
		return []float64{base[1] - base[0]}
	}
	return base
}

// drawFeatures returns the features that a round may split on, ascending.
func drawFeatures(features, round int, config Config) []int {
	all := make([]int, features)
	for i := range all {
		all[i] = i
	}
	keep := max(1, int(config.FeatureShare*float64(features)))
	if keep == features {
		return all
	}
	draw := lethe.NewDraw(config.Seed, "trees-features", uint64(round))
	for i := range keep {
		j := i + draw.IntN(features-i)
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:keep])
	return all[:keep]
}
