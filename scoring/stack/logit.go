package stack

import "lethe/internal/portable"

const (
	// nearest is the smallest distance of a probability from 0 and 1: in single precision, values
	// slightly below 1 become 1.
	nearest = 1e-7
	// furthest is the logit of 1 - nearest, to which larger logits are clipped. One component's
	// certainty then cannot outvote the others without limit.
	furthest = 16.118095550958316
)

// Logit is ln(p/(1-p)) of a probability, which is clipped to [1e-7, 1 - 1e-7]. The probability must
// not be NaN.
func Logit(probability float64) float64 {
	p := min(max(probability, nearest), 1-nearest)
	return bounded(portable.Log(p / (1 - p)))
}

// MeanLogit is the mean Logit of the probabilities that several models of one component, such as
// those of its groups, give to a transaction, added in their order; without models it is 0, the
// logit of 1/2.
func MeanLogit(probabilities []float64) float64 {
	if len(probabilities) == 0 {
		return 0
	}
	sum := 0.0
	for _, p := range probabilities {
		sum += Logit(p)
	}
	return sum / float64(len(probabilities))
}

// MeanLogits is MeanLogit for every transaction: byModel has, for each model, one probability per
// transaction. There is at least one model.
func MeanLogits(byModel [][]float64) []float64 {
	out := make([]float64, len(byModel[0]))
	of := make([]float64, len(byModel))
	for i := range out {
		for model := range byModel {
			of[model] = byModel[model][i]
		}
		out[i] = MeanLogit(of)
	}
	return out
}

// bounded returns the logit within ±furthest, and +0 for either zero.
func bounded(logit float64) float64 {
	if logit == 0 {
		return 0
	}
	return min(max(logit, -furthest), furthest)
}
