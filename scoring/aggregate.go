package scoring

// The ways to combine models. MethodMean is the mean of the models' posteriors. MethodStack selects
// the meta-model (package meta), which combines components and is part of the ensemble.
const (
	MethodMean  = "mean"
	MethodStack = "stack"
)

// Methods returns the names of the ways to combine models.
func Methods() []string { return []string{MethodMean, MethodStack} }

// Mean returns the mean of the models' posteriors for the same rows, entry by entry. It panics if
// their lengths differ. Models are added in their order in double precision.
func Mean(posteriors [][]float32) []float32 {
	if len(posteriors) == 0 {
		return nil
	}
	weight := 1 / float64(len(posteriors))
	sums := make([]float64, len(posteriors[0]))
	for _, posterior := range posteriors {
		if len(posterior) != len(sums) {
			panic("scoring: posteriors differ in length")
		}
		for i, p := range posterior {
			// The conversion prevents fusing the product with the sum, which would make the
			// bytes depend on the machine.
			sums[i] += float64(weight * float64(p))
		}
	}
	out := make([]float32, len(sums))
	for i, sum := range sums {
		out[i] = float32(sum)
	}
	return out
}
