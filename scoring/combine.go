package scoring

// Combiner puts together what every shard's model says of the same rows. It is
// pure and may be used from several goroutines at once.
type Combiner interface {
	// Combine returns posteriors of rows × classes, row-major, made of those of
	// every shard in the same layout. owners has, for every row, the shard that was
	// trained on it and is therefore left out of it, or -1; without owners every
	// shard counts for every row. So the posteriors of training nodes are, like
	// those of test nodes, by models that have not seen them, which the correct step
	// and propagation.Choose need, and which costs nothing where models are sharded.
	// If the owner is the only shard with a weight, the row is that of all shards.
	//
	// It panics if the lengths do not fit.
	Combine(posteriors [][]float32, classes int, owners []int) []float32
}

// Weights are one per shard, not negative and summing to 1 within rounding, or
// none for no shards. As a Combiner they give the weighted sum of the posteriors,
// entry by entry; without a row's owner, the weights of the others are scaled up.
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
			// The conversion forbids fusing with the sum, which would make the
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
