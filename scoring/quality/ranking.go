package quality

import (
	"cmp"
	"slices"
)

// tiedScores counts the samples that share one score.
type tiedScores struct {
	score                float64
	positives, negatives int
}

// rank groups samples by score, highest first. Not-a-number ranks below all.
// It panics if the lengths differ.
func rank(scores []float64, positive []bool) []tiedScores {
	if len(scores) != len(positive) {
		panic("quality: number of scores and of labels differ")
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var groups []tiedScores
	for at, i := range order {
		if at == 0 || cmp.Compare(scores[order[at-1]], scores[i]) != 0 {
			groups = append(groups, tiedScores{score: scores[i]})
		}
		g := &groups[len(groups)-1]
		if positive[i] {
			g.positives++
		} else {
			g.negatives++
		}
	}
	return groups
}

// AUC is the area under the ROC curve: the chance that a random positive sample
// scores higher than a random negative one, a tie counting one half. It is
// undefined, and ok is false, without samples of both kinds. It panics if the
// lengths differ.
func AUC(scores []float64, positive []bool) (auc float64, ok bool) {
	var positives, negatives int64
	// Twice the number of correctly ordered pairs, so that ties are integers.
	var twiceWon int64
	for _, g := range rank(scores, positive) {
		p, n := int64(g.positives), int64(g.negatives)
		twiceWon += n * (2*positives + p)
		positives += p
		negatives += n
	}
	if positives == 0 || negatives == 0 {
		return 0, false
	}
	return float64(twiceWon) / (2 * float64(positives) * float64(negatives)), true
}

// AveragePrecision is Σ (R_n - R_{n-1}) P_n over the distinct scores as thresholds, from the
// highest down, with precision P and recall R at each; tied samples are added together and nothing
// is interpolated. It is undefined, and ok is false, without positive samples. It panics if the
// lengths differ.
func AveragePrecision(scores []float64, positive []bool) (ap float64, ok bool) {
	positives, taken := 0, 0
	sum := 0.0
	for _, g := range rank(scores, positive) {
		positives += g.positives
		taken += g.positives + g.negatives
		sum += float64(float64(g.positives) * ratio(positives, taken))
	}
	if positives == 0 {
		return 0, false
	}
	return sum / float64(positives), true
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
