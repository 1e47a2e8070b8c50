package trees

import "lethe/internal/portable"

// booster is the boosting state of the rows: the model's scores of each, and the derivatives of
// the log-loss there. All are row-major.
type booster struct {
	outputs int
	scores  []float64
	// residuals are p - y and curvatures p(1-p).
	residuals, curvatures []float64
}

func newBooster(f *fitter) *booster {
	n, outputs := f.rows.Len(), f.model.outputs()
	b := &booster{outputs: outputs, scores: make([]float64, n*outputs)}
	b.residuals, b.curvatures = make([]float64, n*outputs), make([]float64, n*outputs)
	for i := range n {
		f.model.score(f.rows.Row(i), b.scores[i*outputs:(i+1)*outputs])
	}
	return b
}

// addTrees adds one tree per score, fitted to the model's residuals.
func (f *fitter) addTrees(rest []int32) {
	b, g, m := f.boost, f.grower, f.model
	b.differentiate(f.rows.Labels)
	for c := range b.outputs {
		for at, i := range g.bag {
			w := f.rows.Weight(int(i))
			g.cells[at] = g.limits.row(float64(w*b.residuals[int(i)*b.outputs+c]),
				float64(w*b.curvatures[int(i)*b.outputs+c]))
		}
		g.grow()
		m.trees = append(m.trees, g.flatten(f.step, f.rows.Weights))
		if len(g.nodes) == 1 {
			continue
		}
		g.leaves(func(row int32, n *growing) { b.scores[int(row)*b.outputs+c] += float64(f.step(n)) })
		for _, row := range rest {
			b.scores[int(row)*b.outputs+c] += float64(f.step(g.leafOf(row)))
		}
	}
}

// step returns the Newton step of a leaf, shrunk. A tree without a split returns 0,
// because it cannot distinguish rows: adding the common step in every round would drive the model
// to certainty.
func (f *fitter) step(n *growing) float32 {
	if len(f.grower.nodes) == 1 {
		return 0
	}
	return float32(f.config.LearningRate * f.grower.limits.output(n.all))
}

// differentiate computes the derivatives at the current scores.
func (b *booster) differentiate(labels []int32) {
	for i, class := range labels {
		if b.outputs == 1 {
			p := portable.Logistic(b.scores[i])
			b.residuals[i], b.curvatures[i] = p-float64(class), float64(p*(1-p))
			continue
		}
		from, to := i*b.outputs, (i+1)*b.outputs
		residual, curvature := b.residuals[from:to], b.curvatures[from:to]
		copy(residual, b.scores[from:to])
		portable.Softmax(residual)
		for c, p := range residual {
			curvature[c] = float64(p * (1 - p))
		}
		residual[class]--
	}
}

// priors returns the logarithms of the classes' weighted frequencies, for two classes of their
// ratio. Each class counts half a row more than it has, so that an absent class remains possible.
func (f *fitter) priors() []float64 {
	counts := f.counts()
	for c, n := range counts {
		counts[c] = portable.Log(n + 0.5)
	}
	if len(counts) == 2 {
		return []float64{counts[1] - counts[0]}
	}
	return counts
}

// counts returns the weights of the classes, summed as integers.
func (f *fitter) counts() []float64 {
	sums := make([]int64, f.model.classes)
	for i, class := range f.rows.Labels {
		sums[class] += fixed(f.rows.Weight(i))
	}
	counts := make([]float64, len(sums))
	for c, n := range sums {
		counts[c] = float64(n) / gradientUnit
	}
	return counts
}

// loss returns the weighted mean log-loss at the current scores.
func (f *fitter) loss() float64 {
	b := f.boost
	scores := make([]float64, b.outputs)
	loss, weight := 0.0, 0.0
	for i, class := range f.rows.Labels {
		w := f.rows.Weight(i)
		copy(scores, b.scores[i*b.outputs:(i+1)*b.outputs])
		if b.outputs == 1 {
			loss += float64(w * portable.LogOnePlusExp(scores[0]*(1-2*float64(class))))
		} else {
			own := scores[class]
			loss += float64(w * (portable.Softmax(scores) - own))
		}
		weight += w
	}
	return loss / weight
}
