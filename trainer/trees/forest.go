package trees

import (
	"lethe"
	"lethe/trainer/tabular"
)

// addForest adds a tree to a forest. Its leaves hold the classes' frequencies, and its splits
// lower Gini's impurity. Both follow from the sums of boosting with gradients -w for the rows of
// a class and second derivatives w: then -G/H is the frequency of the class, and the sum of G²/H
// over the classes is the weight minus the impurity. With two classes, one sum suffices.
func (f *fitter) addForest(path lethe.Draw) {
	g, m := f.grower, f.model
	for c := range m.outputs() {
		for at, i := range g.bag {
			w, gradient := f.weight(int(i)), 0.0
			if f.rows.Labels[i] == m.class(c) {
				gradient = -w
			}
			g.cells[c][at] = g.limits.row(gradient, w)
		}
	}
	g.grow(path)
	frequency := func(c int, n *growing) float32 {
		if g.limits.weigh(n.all[c]) == 0 {
			return float32(m.base[c]) // only for a tree whose rows have almost no weight
		}
		return float32(n.bounds.hold(min(1, g.limits.output(n.all[c]))))
	}
	for c := range m.outputs() {
		m.trees = append(m.trees, g.flatten(c, frequency, f.weights))
	}
}

// counts returns the weights of the classes, summed as integers.
func (f *fitter) counts() []float64 {
	sums := make([]int64, f.model.classes)
	for i, class := range f.rows.Labels {
		sums[class] += fixed(f.weight(i))
	}
	counts := make([]float64, len(sums))
	for c, n := range sums {
		counts[c] = float64(n) / gradientUnit
	}
	return counts
}

// frequencies returns the classes' shares of the weight, as scores.
func (f *fitter) frequencies() []float64 {
	counts, total := f.counts(), 0.0
	for _, n := range counts {
		total += n
	}
	base := make([]float64, f.model.outputs())
	for c := range base {
		if total > 0 {
			base[c] = counts[f.model.class(c)] / total
		}
	}
	return base
}

// loss returns the loss of the Report.
func (f *fitter) loss() float64 {
	if !f.model.averages {
		return f.logLoss()
	}
	m := f.model
	scores := make([]float64, m.outputs())
	loss, weight := 0.0, 0.0
	for i, class := range f.rows.Labels {
		m.score(f.rows.Row(i), scores)
		w, sum := f.weight(i), 0.0
		for c, p := range scores {
			if m.class(c) == class {
				p = 1 - p
			}
			sum += float64(p * p)
		}
		if len(scores) == 1 {
			sum *= 2 // the other class has the same error
		}
		loss += float64(w * sum)
		weight += w
	}
	return loss / weight
}

// weightsOf returns the weights of the rows times that of their class, or nil if all are 1.
func weightsOf(rows tabular.Rows, config Config) []float64 {
	if rows.Weights == nil && config.PositiveWeight == 1 {
		return nil
	}
	weights := make([]float64, rows.Len())
	for i, class := range rows.Labels {
		weights[i] = rows.Weight(i)
		if class == 1 {
			weights[i] *= config.PositiveWeight
		}
	}
	return weights
}
