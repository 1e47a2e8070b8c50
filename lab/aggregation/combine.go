package aggregation

// Combiner combines the posteriors of all shards' models for the same rows. It is pure and safe for
// concurrent use.
type Combiner interface {
	// Combine returns posteriors of rows × classes, row-major, from those of every shard in the
	// same layout. owners has, for every row, the shard that was trained on it and is therefore
	// excluded, or -1; without owners every shard counts for every row. So the posteriors of
	// training nodes, like those of test nodes, come from models that have not seen them. The
	// correct step and propagation.Choose need this, and sharded models provide it at no cost. If
	// the owner is the only shard with a weight, all shards are used for the row.
	//
	// It panics if the lengths do not match.
	Combine(posteriors [][]float32, classes int, owners []int) []float32
}

// Weights are one per shard, non-negative and summing to 1 within rounding, or empty for no shards.
// As a Combiner they give the weighted sum of the posteriors, entry by entry; if a row's owner is
// excluded, the other weights are scaled up.
type Weights []float64

// Combine implements Combiner. Shards are added in their order in double
// precision.
func (w Weights) Combine(posteriors [][]float32, classes int, owners []int) []float32 {
	out := w.sum(posteriors)
	if owners == nil {
		return out
	}
	if classes < 1 || len(out) != len(owners)*classes {
		panic("scoring: number of owners and of rows differ")
	}
	for i, owner := range owners {
		if owner < 0 {
			continue
		}
		rest := 0.0
		for s, weight := range w {
			if s != owner {
				rest += weight
			}
		}
		if !(rest > 0) {
			continue
		}
		for at := i * classes; at < (i+1)*classes; at++ {
			sum := 0.0
			for s, weight := range w {
				if s != owner {
					sum += float64(weight * float64(posteriors[s][at]))
				}
			}
			out[at] = float32(sum / rest)
		}
	}
	return out
}

// sum adds the weighted posteriors of every shard.
func (w Weights) sum(posteriors [][]float32) []float32 {
	if len(posteriors) != len(w) {
		panic("scoring: number of posteriors and of weights differ")
	}
	if len(posteriors) == 0 {
		return nil
	}
	sums := make([]float64, len(posteriors[0]))
	for s, posterior := range posteriors {
		if len(posterior) != len(sums) {
			panic("scoring: posteriors differ in length")
		}
		for i, p := range posterior {
			// The conversion prevents fusing the product with the sum, which would make the
			// bytes depend on the machine.
			sums[i] += float64(w[s] * float64(p))
		}
	}
	out := make([]float32, len(sums))
	for i, sum := range sums {
		out[i] = float32(sum)
	}
	return out
}
