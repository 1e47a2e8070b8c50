package trees

import (
	"fmt"

	"lethe/trainer/tabular"
)

// Explain returns the Shapley values of a row's features with respect to the trees' covers:
// path-dependent TreeSHAP, over the mean score of the fit's rows according to the covers
// (Lundberg, Erion and Lee, "Consistent Individualized Feature Attribution for Tree Ensembles",
// 2018, algorithm 2). Scores are logits. It takes time in proportion to leaves × depth².
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
	return e, nil
}

// expected returns the mean score of the rows at a node.
func (t tree) expected(at uint32) float64 {
	n := t[at]
	if n.feature == leaf {
		return float64(n.value)
	}
	return float64(t.share(at, at+1)*t.expected(at+1)) + float64(t.share(at, n.right)*t.expected(n.right))
}

// share returns a child's share of a node's rows, or one half where these have no weight.
func (t tree) share(at, child uint32) float64 {
	if t[at].cover == 0 {
		return .5
	}
	return float64(t[child].cover) / float64(t[at].cover)
}

// pathStep is a feature on the path from the root to a node.
type pathStep struct {
	feature int32
	// zero is the share of the rows that take this branch if the feature is unknown; one is 1 if the
	// row itself does, else 0.
	zero, one float64
	// weight is the weight of the number of known features on the path: the share of the orders in
	// which that many come first.
	weight float64
}

// shapWalk visits the leaves of a tree for one row.
type shapWalk struct {
	tree  tree
	row   []float32
	terms []float64
	// paths has space for one path per depth, apart steps each.
	paths []pathStep
	apart int
}

// visit is a node to visit: its depth, the path before it, and the step that leads to it.
type visit struct {
	at    uint32
	depth int
	path  []pathStep
	last  pathStep
}

// down visits a node.
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

// extend stores a path with one more step in dst (EXTEND).
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

// unwind removes a step from a path (UNWIND).
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

// unwoundSum returns the sum of the weights of a path without a step.
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

// unwound returns the weight of a position of a path without a step of the given shares, and the
// value needed for the position before it.
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
