package scoring

// Combine returns the weighted sum of the shards' posteriors, entry by entry.
// Every shard's posteriors have the same layout, such as one probability per
// node, and there is one weight per shard. Shards are added in their order in
// double precision. It panics if the lengths differ.
func Combine(posteriors [][]float32, weights []float64) []float32 {
	if len(posteriors) != len(weights) {
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
			sums[i] += float64(weights[s] * float64(p))
		}
	}
	out := make([]float32, len(sums))
	for i, sum := range sums {
		out[i] = float32(sum)
	}
	return out
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
