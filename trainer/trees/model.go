package trees

import (
	"fmt"

	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

// Model is a boosted ensemble. It is read-only and may be used from several
// goroutines at once.
type Model struct {
	classes, features int
	// base holds the scores without trees: one logit for two classes, else one
	// per class.
	base []float64
	// trees holds round after round, with one tree per score.
	trees []tree
}

// Classes returns the number of classes.
func (m *Model) Classes() int { return m.classes }

// Features returns the number of features of a row.
func (m *Model) Features() int { return m.features }

// Rounds returns how many rounds of trees there are.
func (m *Model) Rounds() int { return len(m.trees) / m.outputs() }

// Leaves returns the number of leaves of all trees.
func (m *Model) Leaves() int {
	n := 0
	for _, t := range m.trees {
		n += t.leaves()
	}
	return n
}

// Latest returns the model without its oldest rounds, so that at most the given
// number is left. What the dropped trees explained is lost.
func (m *Model) Latest(rounds int) *Model {
	out := *m
	out.trees = m.trees[max(0, m.Rounds()-rounds)*m.outputs():]
	return &out
}

// outputs is the number of scores: a logit for two classes, else one each.
func (m *Model) outputs() int {
	if m.classes == 2 {
		return 1
	}
	return m.classes
}

// score stores the scores of a row, summed in double precision from the oldest
// tree to the newest.
func (m *Model) score(row []float32, into []float64) {
	copy(into, m.base)
	for i, t := range m.trees {
		into[i%len(into)] += float64(t.score(row))
	}
}

// Probabilities returns the class probabilities of every row, rows × classes.
// Features are row-major, rows × Features(). A value that is not a number goes
// right at every split.
func (m *Model) Probabilities(features []float32) ([]float32, error) {
	if len(features)%m.features != 0 {
		return nil, fmt.Errorf("%w: %d feature values, want a multiple of %d", tabular.ErrInvalidRows, len(features),
			m.features)
	}
	rows := len(features) / m.features
	out := make([]float32, 0, rows*m.classes)
	scores := make([]float64, m.outputs())
	for i := range rows {
		m.score(features[i*m.features:(i+1)*m.features], scores)
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
