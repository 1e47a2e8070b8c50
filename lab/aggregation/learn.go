package aggregation

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"lethe"
	"lethe/lab/measures"
)

// smallestLikelihood keeps the gradient finite if all shards give the true class probability 0.
const smallestLikelihood = 1e-12

// LearnWeights fits one weight per shard to labelled rows: the learned
// aggregation (LBAggr) of Chen et al., "Graph Unlearning", CCS 2022. The weights
// α are not negative, sum to 1 and minimise the mean cross entropy
//
//	-log Σ_s α_s p_s(y)  (+ Norm |α|)
//
// of the combined posteriors, by Adam over shuffled batches, cut at 0 and scaled
// to sum 1 after each step, from equal weights. It combines probabilities, as
// Weights do; the authors' program softmaxes combined log-probabilities twice.
//
// Each of posteriors is one shard's, row-major, one row of classes
// probabilities per node; labels has the nodes' classes, and rows of measures.NoClass
// take no part.
//
// The weights are learned from records, so erasure affects them. They depend only on these
// arguments, and rows without a label have no effect. An erasure drops the weights; they are
// relearned from the replaced models' posteriors for the remaining rows, and until then all shards
// have the same weight. Weights in use must not have seen an erased row, nor a replaced model.
//
// It returns an error if an option is out of range, lengths or classes do not match, or no row is
// labelled.
func LearnWeights(posteriors [][]float32, classes int, labels []int, opts LearnConfig) (Weights, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("learnt weights: %w", err)
	}
	rows, err := likelihoods(posteriors, classes, labels)
	if err != nil {
		return nil, err
	}
	l := &learner{
		weights: make(Weights, len(posteriors)), gradient: make([]float64, len(posteriors)),
		mean: make([]float64, len(posteriors)), square: make([]float64, len(posteriors)), opts: opts,
	}
	for s := range l.weights {
		l.weights[s] = 1 / float64(len(posteriors))
	}
	for epoch := range opts.Epochs {
		draw := lethe.NewDraw(opts.Seed, "scoring/learn", uint64(epoch))
		for i := len(rows) - 1; i > 0; i-- {
			j := draw.IntN(i + 1)
			rows[i], rows[j] = rows[j], rows[i]
		}
		for at := 0; at < len(rows); at += opts.BatchSize {
			l.step(rows[at:min(at+opts.BatchSize, len(rows))])
		}
	}
	return l.weights, nil
}

// likelihoods returns, per labelled row, every shard's probability of the true class, which is the
// only input of the loss.
func likelihoods(posteriors [][]float32, classes int, labels []int) ([][]float64, error) {
	if len(posteriors) == 0 || classes < 2 {
		return nil, fmt.Errorf("%d shards and %d classes, want at least 1 and 2", len(posteriors), classes)
	}
	for s, p := range posteriors {
		if len(p) != len(labels)*classes {
			return nil, fmt.Errorf("shard %d has %d posteriors, want %d for %d rows of %d classes",
				s, len(p), len(labels)*classes, len(labels), classes)
		}
	}
	var rows [][]float64
	for i, class := range labels {
		if class == measures.NoClass {
			continue
		}
		if class < 0 || class >= classes {
			return nil, fmt.Errorf("row %d has class %d, want 0 to %d, or %d for none", i, class, classes-1, measures.NoClass)
		}
		row := make([]float64, len(posteriors))
		for s, p := range posteriors {
			row[s] = float64(p[i*classes+class])
			if !(row[s] >= 0) || math.IsInf(row[s], 1) {
				return nil, fmt.Errorf("shard %d, row %d has probability %v of class %d, want a number of at least 0", s, i, row[s],
					class)
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("none of %d rows has a label to learn from", len(labels))
	}
	return rows, nil
}

// learner is Adam (Kingma and Ba, ICLR 2015) on the simplex.
type learner struct {
	opts                   LearnConfig
	weights                Weights
	gradient, mean, square []float64
	steps                  float64
}

// step moves the weights against the gradient of one batch.
func (l *learner) step(batch [][]float64) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	clear(l.gradient)
	for _, row := range batch {
		likelihood := 0.0
		for s, p := range row {
			likelihood += float64(l.weights[s] * p)
		}
		share := 1 / (max(likelihood, smallestLikelihood) * float64(len(batch)))
		for s, p := range row {
			l.gradient[s] -= float64(p * share)
		}
	}
	if l.opts.Norm > 0 {
		scale := l.opts.Norm / floats.Norm(l.weights, 2)
		for s, w := range l.weights {
			l.gradient[s] += float64(w * scale)
		}
	}
	// The loss is that of the scaled weights. Without this term every gradient is negative, Adam
	// takes equal steps for all, and the scaling cancels them.
	floats.AddConst(-floats.Dot(l.weights, l.gradient), l.gradient)
	l.steps++
	correction1, correction2 := 1-math.Pow(beta1, l.steps), 1-math.Pow(beta2, l.steps)
	sum := 0.0
	for s, g := range l.gradient {
		l.mean[s] = float64(beta1*l.mean[s]) + float64((1-beta1)*g)
		l.square[s] = float64(beta2*l.square[s]) + float64((1-beta2)*float64(g*g))
		move := l.opts.LearningRate * (l.mean[s] / correction1) / (math.Sqrt(l.square[s]/correction2) + epsilon)
		l.weights[s] = max(0, l.weights[s]-move)
		sum += l.weights[s]
	}
	for s := range l.weights {
		// A step larger than every weight leaves nothing: restart with equal weights.
		if sum == 0 {
			l.weights[s] = 1 / float64(len(l.weights))
			continue
		}
		l.weights[s] /= sum
	}
}
