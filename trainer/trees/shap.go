package trees

import (
	"fmt"

	"lethe/trainer/tabular"
)

// Explain returns the Shapley values of a row's features by the trees' own covers: TreeSHAP,
// over the mean score of the rows of the fit as the covers tell it:
// path-dependent (Lundberg, Erion and Lee, "Consistent Individualized Feature Attribution for
// Tree Ensembles", 2018, algorithm 2). Scores are logits for boosted trees and
// probabilities for forests. It takes time in proportion to leaves × depth².
//
// The error wraps tabular.ErrInvalidRows for a row of another width.
func (m *Model) Explain(row []float32) (tabular.Explanation, error) {
	if len(row) != m.features {
		return tabular.Explanation{}, fmt.Errorf("%w: %d features, want %d", tabular.ErrInvalidRows, len(row), m.features)
	}
	outputs := m.outputs()
	e := tabular.Explanation{
		Scores: make([]float64, outputs), Expected: make([]float64, outputs),
		Terms: make([]float64, outputs*m.features),
	}
	m.score(row, e.Scores)
	m.begin(e.Expected)
	deepest := 0
	for _, w := range m.walks {
		deepest = max(deepest, w.depth)
	}
	w := shapWalk{row: row, apart: deepest + 2, paths: make([]pathStep, (deepest+2)*(deepest+2))}
	for i, t := range m.trees {
		output := i % outputs
		e.Expected[output] += t.expected(0)
		w.tree, w.terms = t, e.Terms[output*m.features:(output+1)*m.features]
		w.down(visit{last: pathStep{feature: leaf, zero: 1, one: 1}})
	}
	m.finish(e.Expected)
	m.finishTerms(e.Terms)
	return e, nil
}

// finishTerms turns sums over the trees into what is added to a score.
func (m *Model) finishTerms(terms []float64) {
	if m.averages && len(m.trees) > 0 {
		for i := range terms {
			terms[i] /= float64(m.Rounds())
		}
	}
}

// expected is the mean score of the rows that came to a node.
func (t tree) expected(at uint32) float64 {
	n := t[at]
	if n.feature == leaf {
		return float64(n.value)
	}
	return float64(t.share(at, at+1)*t.expected(at+1)) + float64(t.share(at, n.right)*t.expected(n.right))
}

// share is the part of a node's rows that go on to a child: half of them where they have no weight.
func (t tree) share(at, child uint32) float64 {
	if t[at].cover == 0 {
		return .5
	}
	return float64(t[child].cover) / float64(t[at].cover)
}

// pathStep is a feature on the way from the root to a node.
type pathStep struct {
	feature int32
	// zero is the share of the rows that go this way if the feature is not known, one
	// whether the row itself does.
	zero, one float64
	// weight belongs to the number of features on the way that are known: the share of
	// the orders in which that many come first.
	weight float64
}

// shapWalk visits the leaves of a tree for one row.
type shapWalk struct {
	tree  tree
	row   []float32
	terms []float64
	// paths has room for a path per node on the way down, so many steps apart.
	paths []pathStep
	apart int
}

// visit is a node to go on from: at which depth, behind which path, and the step that led to it.
type visit struct {
	at    uint32
	depth int
	path  []pathStep
	last  pathStep
}

// down goes on from a node.
func (w *shapWalk) down(v visit) {
	path := extend(w.paths[v.depth*w.apart:][:0], v.path, v.last)
	n := w.tree[v.at]
	if n.feature == leaf {
		for i := 1; i < len(path); i++ {
			p := path[i]
			w.terms[p.feature] += float64(float64(unwoundSum(path, i)*(p.one-p.zero)) * float64(n.value))
		}
		return
	}
	hot, cold := v.at+1, n.right
	if x := w.row[n.feature]; !(x <= n.value || x != x && n.missingLeft) {
		hot, cold = cold, hot
	}
	zero, one := 1.0, 1.0
	for i := 1; i < len(path); i++ {
		if path[i].feature == n.feature { // a feature counts once
			zero, one = path[i].zero, path[i].one
			path = unwind(path, i)
			break
		}
	}
	step := pathStep{feature: n.feature, zero: float64(zero * w.tree.share(v.at, hot)), one: one}
	w.down(visit{hot, v.depth + 1, path, step})
	step.zero, step.one = float64(zero*w.tree.share(v.at, cold)), 0
	w.down(visit{cold, v.depth + 1, path, step})
}

// extend stores a path with one step more in dst (EXTEND).
func extend(dst, path []pathStep, step pathStep) []pathStep {
	length := len(path)
	if step.weight = 0; length == 0 {
		step.weight = 1
	}
	dst = append(append(dst, path...), step)
	for i := length - 1; i >= 0; i-- {
		before, n := dst[i].weight, float64(length+1)
		dst[i+1].weight += float64(step.one*before) * float64(i+1) / n
		dst[i].weight = float64(step.zero*before) * float64(length-i) / n
	}
	return dst
}

// unwind takes a step out of a path (UNWIND).
func unwind(path []pathStep, at int) []pathStep {
	last := len(path) - 1
	zero, one, next := path[at].zero, path[at].one, path[last].weight
	for i := last - 1; i >= 0; i-- {
		path[i].weight, next = unwound(path, i, next, zero, one)
	}
	for i := at; i < last; i++ {
		p := path[i+1]
		path[i].feature, path[i].zero, path[i].one = p.feature, p.zero, p.one
	}
	return path[:last]
}

// unwoundSum is the sum of the weights that a path has without a step.
func unwoundSum(path []pathStep, at int) float64 {
	last := len(path) - 1
	zero, one, next := path[at].zero, path[at].one, path[last].weight
	sum := 0.0
	for i := last - 1; i >= 0; i-- {
		weight, before := unwound(path, i, next, zero, one)
		sum, next = sum+weight, before
	}
	return sum
}

// unwound is the weight that a place of a path has without a step of the given shares,
// and what the place before it is to be told.
func unwound(path []pathStep, i int, next, zero, one float64) (weight, before float64) {
	length, last := float64(len(path)), len(path)-1
	switch {
	case one != 0:
		weight = float64(next*length) / float64(float64(i+1)*one)
		return weight, path[i].weight - float64(weight*zero)*float64(last-i)/length
	case zero != 0:
		return float64(path[i].weight*length) / float64(zero*float64(last-i)), next
	}
	return 0, next
}
