package trees

import (
	"fmt"

	"lethe/internal/portable"
	"lethe/trainer/tabular"
)

const (
	// blockRows is the number of rows that pass through all trees together: few enough for their
	// features to stay in a cache beside a tree.
	blockRows = 32
	// abreast is how many of them descend a tree in parallel, so that the processor is busy while
	// one waits for its next node.
	abreast = 4
)

// step is a node in the form used for prediction. A leaf leads to itself, so that all rows take
// as many steps as the tree is deep, without a test for leaves.
type step struct {
	value   float32
	feature uint32
	next    [2]uint32
}

// walk is a tree of steps.
type walk struct {
	steps []step
	depth int
}

// compile creates the missing walks of the trees.
func (m *Model) compile() {
	m.walks = m.walks[:len(m.walks):len(m.walks)]
	for _, t := range m.trees[len(m.walks):] {
		w := walk{steps: make([]step, len(t)), depth: t.depth()}
		for i, n := range t {
			s := step{value: n.value, next: [2]uint32{uint32(i), uint32(i)}}
			if n.feature != leaf {
				s.feature, s.next = uint32(n.feature), [2]uint32{uint32(i) + 1, n.right}
			}
			w.steps[i] = s
		}
		m.walks = append(m.walks, w)
	}
}

// Probabilities returns the class probabilities of every row, rows × classes. Features are
// row-major, rows × Features(). NaN is a missing value: every split sends it to its learnt side,
// or to the side of 0 if no row of the fit missed the feature.
//
// The error wraps tabular.ErrInvalidRows if the number of values is not a multiple of Features().
func (m *Model) Probabilities(features []float32) ([]float32, error) {
	if len(features)%m.features != 0 {
		return nil, fmt.Errorf("%w: %d feature values, want a multiple of %d", tabular.ErrInvalidRows, len(features),
			m.features)
	}
	rows, outputs := len(features)/m.features, m.outputs()
	out := make([]float32, 0, rows*m.classes)
	scores := make([]float64, blockRows*outputs)
	for from := 0; from < rows; from += blockRows {
		n := min(blockRows, rows-from)
		m.scoreBlock(features[from*m.features:(from+n)*m.features], scores[:n*outputs])
		for i := range n {
			out = m.appendProbabilities(out, scores[i*outputs:(i+1)*outputs])
		}
	}
	return out, nil
}

// appendProbabilities converts the scores of a row into its probabilities.
func (m *Model) appendProbabilities(out []float32, scores []float64) []float32 {
	if m.classes == 2 {
		p := portable.Logistic(scores[0])
		return append(out, float32(1-p), float32(p))
	}
	portable.Softmax(scores)
	for _, p := range scores {
		out = append(out, float32(p))
	}
	return out
}

// scoreBlock stores the scores of some rows, with the same result as score.
func (m *Model) scoreBlock(features []float32, scores []float64) {
	outputs, n := m.outputs(), len(features)/m.features
	whole := n - n%abreast
	for _, v := range features {
		if v != v {
			whole = 0 // rows with missing values are scored one by one
			break
		}
	}
	m.begin(scores)
	for i, w := range m.walks {
		for row := 0; row < whole; row += abreast {
			w.add(features[row*m.features:(row+abreast)*m.features], m.features, scores[row*outputs+i%outputs:], outputs)
		}
	}
	for row := whole; row < n; row++ {
		for i, t := range m.trees {
			scores[row*outputs+i%outputs] += float64(t.score(features[row*m.features : (row+1)*m.features]))
		}
	}
}

// add adds the leaf values of four rows in parallel to scores at a distance of apart.
func (w walk) add(features []float32, cols int, scores []float64, apart int) {
	r0, r1, r2, r3 := features[:cols], features[cols:2*cols], features[2*cols:3*cols], features[3*cols:4*cols]
	s := w.steps
	var a0, a1, a2, a3 uint32
	for range w.depth {
		a0, a1, a2, a3 = s[a0].after(r0), s[a1].after(r1), s[a2].after(r2), s[a3].after(r3)
	}
	scores[0] += float64(s[a0].value)
	scores[apart] += float64(s[a1].value)
	scores[2*apart] += float64(s[a2].value)
	scores[3*apart] += float64(s[a3].value)
}

// after returns the next step of a row.
func (s *step) after(row []float32) uint32 {
	side := 0
	if row[s.feature] > s.value {
		side = 1
	}
	return s.next[side]
}
