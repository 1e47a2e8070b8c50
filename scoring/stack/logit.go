package stack

import "lethe/internal/portable"

const (
	// nearest is how near to 0 and 1 a probability counts: single precision says 1
	// where it means a little less.
	nearest = 1e-7
	// furthest is the logit of 1 - nearest, above which logits count as it. One
	// component's certainty then cannot outvote the others without end.
	furthest = 16.118095550958316
)

// Logit is ln(p/(1-p)) of a probability, which counts as 1e-7 below that and as
// 1 - 1e-7 above. The probability must be a number.
func Logit(probability float64) float64 {
	p := min(max(probability, nearest), 1-nearest)
	return bounded(portable.Log(p / (1 - p)))
}

// MeanLogit is the mean Logit of what several models of one component say of a
// transaction, such as those of its groups, added in their order; 0, the logit
// of 1/2, without models.
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

// MeanLogits is MeanLogit for every transaction: said has, model by model, one probability
// per transaction. There is at least one model.
func MeanLogits(said [][]float64) []float64 {
	out := make([]float64, len(said[0]))
	of := make([]float64, len(said))
	for i := range out {
		for model := range said {
			of[model] = said[model][i]
		}
		out[i] = MeanLogit(of)
	}
	return out
}

// bounded returns the logit within ±furthest, and 0 for either zero.
func bounded(logit float64) float64 {
	if logit == 0 {
		return 0
	}
	return min(max(logit, -furthest), furthest)
}
