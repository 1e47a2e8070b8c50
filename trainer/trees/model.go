package trees

// Model is a fitted ensemble. It is read-only and may be used from several goroutines.
type Model struct {
	classes, features int
	// base holds the scores without trees: for two classes only that of class 1, else one per class.
	base []float64
	// trees holds round after round, with one tree per score.
	trees []tree
	// walks are the trees in the form used for prediction.
	walks []walk
}

// Classes returns the number of classes.
func (m *Model) Classes() int { return m.classes }

// Features returns the number of features of a row.
func (m *Model) Features() int { return m.features }

// Rounds returns how many rounds of trees there are.
func (m *Model) Rounds() int { return len(m.trees) / m.outputs() }

// Base returns the scores of a model without trees, one per output: for two classes only that of
// class 1, else one per class. Scores are logits.
func (m *Model) Base() []float64 { return append([]float64(nil), m.base...) }

// Leaves returns the number of leaves of all trees.
func (m *Model) Leaves() int {
	n := 0
	for _, t := range m.trees {
		n += t.leaves()
	}
	return n
}

// Latest returns the model with only its latest rounds, at most the given number. The
// contributions of the dropped trees are lost.
func (m *Model) Latest(rounds int) *Model {
	out := *m
	from := max(0, m.Rounds()-rounds) * m.outputs()
	out.trees, out.walks = m.trees[from:], m.walks[from:]
	return &out
}

// outputs is the number of scores: one for two classes, else one per class.
func (m *Model) outputs() int {
	if m.classes == 2 {
		return 1
	}
	return m.classes
}

// score stores the scores of a row, summed in double precision from the oldest tree to the
// newest.
func (m *Model) score(row []float32, into []float64) {
	m.begin(into)
	for i, t := range m.trees {
		into[i%len(into)] += float64(t.score(row))
	}
}

// begin stores the initial values of the sums over the trees.
func (m *Model) begin(scores []float64) {
	for i := range scores {
		scores[i] = m.base[i%len(m.base)]
	}
}
