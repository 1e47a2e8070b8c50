package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/logistic"
	"lethe/trainer/models"
	"lethe/trainer/tabular"
	"lethe/trainer/trees"
)

// The models that are not networks. They process one row at a time, so neighbours affect them
// only through one-hop features (package onehop). Under the schedule Window they are refitted to
// all rows of the window. Trees also support Continual: a forest that gets some more trees at
// every timestep.
const (
	// Trees are gradient-boosted trees, see package trees.
	Trees = "trees"
	// Logistic is logistic regression, see package logistic.
	Logistic = "logistic"
)

// RowModels returns the names of the models that process single rows.
func RowModels() []string { return []string{Trees, Logistic} }

// ComponentModels returns the models that a Blend may contain.
func ComponentModels() []string { return append(models.Served().Names(), RowModels()...) }

// StreamModels returns all values of Config.Model. A graph without timesteps supports only
// Models.
func StreamModels() []string { return append(ComponentModels(), Blend) }

// rowModel is a fitted model that processes one row at a time.
type rowModel interface {
	Classes() int
	Features() int
	// Probabilities returns rows × classes for rows of features.
	Probabilities(features []float32) ([]float32, error)
	Encode() []byte
}

// LooksAtRows reports whether the model's output for a row depends only on that row.
func (c Config) LooksAtRows() bool { return looksAtRows(c.Model) }

// Needed returns the part of a slice that a model learns from: of a union, a model that looks at rows needs only the
// labelled nodes. A slice that is not a union stays whole, because its digest follows from its content.
func (c Config) Needed(s *lethe.Slice) *lethe.Slice {
	if s.Parts == nil || !c.LooksAtRows() {
		return s
	}
	return tabular.Labelled(s)
}

// looksAtRows reports whether a model is one of RowModels.
func looksAtRows(model string) bool { return model == Trees || model == Logistic }

// keepsBody reports whether a model is not a network: its state is the Body of a checkpoint.
func keepsBody(model string) bool { return looksAtRows(model) || model == Blend }

// rows decodes the model of a checkpoint; it is nil before training on any label.
func (c *Checkpoint) rows() (rowModel, error) {
	if len(c.Body) == 0 {
		return nil, nil
	}
	switch c.Model {
	case Trees:
		return trees.Decode(c.Body)
	case Logistic:
		return logistic.Decode(c.Body)
	default:
		return nil, fmt.Errorf("%w: model %q is unknown", canonical.ErrCorrupt, c.Model)
	}
}

// fitRows fits next to the labelled rows of the window.
func (e *Engine) fitRows(ctx context.Context, next *Checkpoint, window []*lethe.Slice) (Report, error) {
	report := Report{}
	for _, s := range window {
		if s.Labelled() > 0 {
			report.Slices++
		}
	}
	if report.Slices == 0 {
		return report, nil
	}
	m, err := e.fitModel(ctx, next, e.weighted(tabular.FromSlices(window)), &report)
	switch {
	case errors.Is(err, tabular.ErrInvalidRows):
		err = fmt.Errorf("%w: %w", ErrNotFinite, err)
		fallthrough
	case err != nil:
		return report, fmt.Errorf("shard %d timestep %d: %w", next.Shard, next.Timestep, err)
	}
	next.Body = m.Encode()
	return report, nil
}

func (e *Engine) fitModel(ctx context.Context, next *Checkpoint, rows tabular.Rows, report *Report) (rowModel, error) {
	if e.config.Model == Logistic {
		o := e.config.Logistic
		o.Classes = e.config.Classes
		m, fit, err := logistic.Fit(ctx, rows, o)
		report.Steps, report.FinalLoss = fit.Iterations, fit.Loss
		return m, err
	}
	o := e.config.Trees
	o.Classes = e.config.Classes
	o.Seed = lethe.NewDraw(e.config.Seed, "trees", uint64(next.Shard)).Uint64()
	var m *trees.Model
	var fit trees.Report
	var err error
	if len(next.Body) == 0 {
		report.Steps = o.Rounds
		m, fit, err = trees.Fit(ctx, rows, o)
	} else {
		// Under the schedule Continual: the forest of the previous checkpoint.
		if m, err = trees.Decode(next.Body); err != nil {
			return nil, err
		}
		report.Steps = o.UpdateRounds
		m, fit, err = trees.Update(ctx, m, rows, o)
	}
	report.FirstLoss, report.FinalLoss = fit.FirstLoss, fit.FinalLoss
	return m, err
}

// weighted applies the class weights to the rows.
func (e *Engine) weighted(rows tabular.Rows) tabular.Rows {
	if e.config.classWeights() == EqualClasses {
		return rows
	}
	counts := make([]int, e.config.Classes)
	for _, class := range rows.Labels {
		counts[class]++
	}
	byClass := classWeights(e.config.classWeights(), counts)
	rows.Weights = make([]float32, rows.Len())
	for i, class := range rows.Labels {
		rows.Weights[i] = byClass[class]
	}
	return rows
}

// bodyProbabilities computes the probabilities of a model that is not a network.
func (e *Engine) bodyProbabilities(ctx context.Context, c *Checkpoint, in Input) ([]float32, error) {
	if c.Model == Blend {
		return e.blendProbabilities(ctx, c, in)
	}
	return e.rowProbabilities(c, in)
}

// readRows caches the latest decoded models: for repeated queries of a few rows, decoding takes
// longer than scoring. Bodies are immutable, so the address of the first byte, which the cache
// entry keeps alive, identifies them.
type readRows struct {
	mu   sync.Mutex
	kept []readRow
}

type readRow struct {
	body  []byte
	model rowModel
}

// maxReadRows bounds the cache: a component has a few groups.
const maxReadRows = 4

// rows is Checkpoint.rows, cached.
func (r *readRows) rows(c *Checkpoint) (rowModel, error) {
	if len(c.Body) == 0 {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.kept {
		if &one.body[0] == &c.Body[0] {
			return one.model, nil
		}
	}
	m, err := c.rows()
	if err != nil {
		return nil, err
	}
	if len(r.kept) == maxReadRows {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.kept = append(r.kept, readRow{c.Body, m})
	return m, nil
}

// rowProbabilities computes the probabilities of a row model. Before training on a label all
// classes are equally likely.
func (e *Engine) rowProbabilities(c *Checkpoint, in Input) ([]float32, error) {
	m, err := e.read.rows(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	if m == nil {
		out := make([]float32, in.Rows*e.config.Classes)
		for i := range out {
			out[i] = 1 / float32(e.config.Classes)
		}
		return out, nil
	}
	if err := in.check(m.Features()); err != nil {
		return nil, err
	}
	for i, v := range in.Features {
		if v-v != 0 && !lethe.IsMissing(v) {
			return nil, fmt.Errorf("feature %d of row %d: %w", i%in.Cols, i/in.Cols, ErrNotFinite)
		}
	}
	return m.Probabilities(in.Features)
}

// shape returns the numbers of features and classes of a checkpoint's model. Both are 0 for a row
// model that was not trained on a label.
func (c *Checkpoint) shape(networks models.Families) (features, classes int, err error) {
	if !keepsBody(c.Model) {
		return c.Architecture.Features, c.Architecture.Classes, c.check(networks)
	}
	if c.Model == Blend {
		b, err := decodeBlend(c.Body, networks)
		if err != nil {
			return 0, 0, err
		}
		return b.shape(networks)
	}
	m, err := c.rows()
	if err != nil || m == nil {
		return 0, 0, err
	}
	return m.Features(), m.Classes(), nil
}
