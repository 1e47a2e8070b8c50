package logistic

import (
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// Model is a fitted regression. It is read-only and may be used from several goroutines.
type Model struct {
	classes, features int
	// weights holds, for each score, a weight per feature and an intercept: one score for two
	// classes, else one per class.
	weights []float64
}

// Classes returns the number of classes.
func (m *Model) Classes() int { return m.classes }

// Features returns the number of features of a row.
func (m *Model) Features() int { return m.features }

func (m *Model) outputs() int {
	if m.classes == 2 {
		return 1
	}
	return m.classes
}

// Probabilities returns the class probabilities of every row, rows × classes. Features are
// row-major, rows × Features(); missing values count as 0. The error wraps
// tabular.ErrInvalidRows.
func (m *Model) Probabilities(features []float32) ([]float32, error) {
	if len(features)%m.features != 0 {
		return nil, fmt.Errorf("%w: %d feature values, want a multiple of %d", tabular.ErrInvalidRows, len(features),
			m.features)
	}
	features = lethe.ZeroMissing(features)
	out := make([]float32, 0, len(features)/m.features*m.classes)
	row, scores := make([]float64, m.features), make([]float64, m.outputs())
	for from := 0; from < len(features); from += m.features {
		for f := range row {
			row[f] = float64(features[from+f])
		}
		for c := range scores {
			scores[c] = affine(m.weights[c*(m.features+1):(c+1)*(m.features+1)], row)
		}
		if m.classes == 2 {
			p := portable.Logistic(scores[0])
			out = append(out, float32(1-p), float32(p))
			continue
		}
		portable.Softmax(scores)
		for _, p := range scores {
			out = append(out, float32(p))
		}
	}
	return out, nil
}

// Explain returns the exact terms of a row's scores, weight times value, over the intercepts,
// which are the scores of a row of zeros; missing values count as 0.
//
// The error wraps tabular.ErrInvalidRows for a row of another width.
func (m *Model) Explain(row []float32) (tabular.Explanation, error) {
	if len(row) != m.features {
		return tabular.Explanation{}, fmt.Errorf("%w: %d features, want %d", tabular.ErrInvalidRows, len(row), m.features)
	}
	values := make([]float64, m.features)
	for f, v := range lethe.ZeroMissing(row) {
		values[f] = float64(v)
	}
	var e tabular.Explanation
	for c := range m.outputs() {
		weights := m.weights[c*(m.features+1) : (c+1)*(m.features+1)]
		e.Scores = append(e.Scores, affine(weights, values))
		e.Expected = append(e.Expected, weights[m.features])
		for f, v := range values {
			e.Terms = append(e.Terms, float64(weights[f]*v))
		}
	}
	return e, nil
}

const (
	modelMagic   = "LLRG"
	modelVersion = 1
)

// Encode returns the model's canonical bytes.
func (m *Model) Encode() []byte {
	w := canonical.NewWriter(modelMagic, modelVersion)
	w.Uint32(uint32(m.classes))
	w.Uint32(uint32(m.features))
	w.Count(len(m.weights))
	for _, v := range m.weights {
		w.Uint64(math.Float64bits(v))
	}
	return w.Seal()
}

// Decode reads the output of Encode. The error wraps canonical.ErrCorrupt for bytes that are
// truncated, altered or inconsistent, and canonical.ErrVersion for a format that this program
// does not read.
func Decode(message []byte) (*Model, error) {
	r, err := canonical.NewReader(message, modelMagic, modelVersion)
	if err != nil {
		return nil, fmt.Errorf("logistic regression: %w", err)
	}
	m := &Model{classes: int(r.Uint32()), features: int(r.Uint32())}
	m.weights = make([]float64, r.Count(8))
	for i := range m.weights {
		m.weights[i] = math.Float64frombits(r.Uint64())
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("logistic regression: %w", err)
	}
	if m.classes < 2 || m.classes > tabular.MaxClasses || m.features < 1 || m.features > tabular.MaxFeatures ||
		len(m.weights) != m.outputs()*(m.features+1) {
		return nil, fmt.Errorf("logistic regression: %w: %d weights for %d classes and %d features",
			canonical.ErrCorrupt, len(m.weights), m.classes, m.features)
	}
	for i, w := range m.weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("logistic regression: %w: weight %d is not finite", canonical.ErrCorrupt, i)
		}
	}
	return m, nil
}
