package scoring

import "fmt"

// Ensemble is what the shards say of one graph, with what their weights may
// rest on. Mean needs nothing besides Posteriors.
type Ensemble struct {
	// Posteriors has one entry per shard, all of one layout, such as a row of
	// probabilities per node.
	Posteriors [][]float32

	// Scored and Shards are for MethodSimilarity: the histogram of the scored
	// graph and one per shard. A Temperature of 0 stands for the default.
	Scored      *Histogram
	Shards      []*Histogram
	Temperature float64

	// Learned is for MethodLearned: the outcome of LearnWeights.
	Learned []float64
}

// Aggregate weighs the shards by a method and returns the combined posteriors
// and the weights. It returns ErrMethod for a method it does not know, and an
// error if what the method needs is missing or of another length.
func (e *Ensemble) Aggregate(method Method) (posteriors []float32, weights []float64, err error) {
	for s, p := range e.Posteriors {
		if len(p) != len(e.Posteriors[0]) {
			return nil, nil, fmt.Errorf("shard %d has %d posteriors, shard 0 has %d", s, len(p), len(e.Posteriors[0]))
		}
	}
	shards := e.Shards
	switch method {
	case MethodLearned:
		weights = append([]float64(nil), e.Learned...)
	case MethodMean:
		shards = make([]*Histogram, len(e.Posteriors))
		fallthrough
	default:
		if weights, err = Weights(method, e.Scored, shards, e.Temperature); err != nil {
			return nil, nil, err
		}
	}
	if len(weights) != len(e.Posteriors) {
		return nil, nil, fmt.Errorf("%s: %d weights for %d shards", method, len(weights), len(e.Posteriors))
	}
	return Combine(e.Posteriors, weights), weights, nil
}

// CombineOthers is Combine, except that a row is what the shards say that were
// not trained on it: owners has one shard per row, or -1 for a row that no
// shard holds, and the weights of the others are scaled up. So it gives
// training nodes posteriors as honest as those of test nodes, which the correct
// step and ChoosePropagation need, and which costs nothing where models are
// sharded. A row whose owner has all the weight is that of all shards.
//
// It panics where Combine does, and if owners do not fit the rows of classes.
func CombineOthers(posteriors [][]float32, weights []float64, classes int, owners []int) []float32 {
	out := Combine(posteriors, weights)
	if classes < 1 || len(out) != len(owners)*classes {
		panic("scoring: number of owners and of rows differ")
	}
	for i, owner := range owners {
		if owner < 0 {
			continue
		}
		rest := 0.0
		for s, w := range weights {
			if s != owner {
				rest += w
			}
		}
		if !(rest > 0) {
			continue
		}
		for at := i * classes; at < (i+1)*classes; at++ {
			sum := 0.0
			for s, w := range weights {
				if s != owner {
					sum += float64(w * float64(posteriors[s][at]))
				}
			}
			out[at] = float32(sum / rest)
		}
	}
	return out
}
