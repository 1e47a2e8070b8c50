package decision

import (
	"math"
	"slices"

	"lethe"
	"lethe/scoring/quality"
)

const (
	// Undecided is the threshold if there is no data to choose from. It is just above .5, which models that have
	// learned nothing give to everybody: nobody is illicit for them.
	Undecided = .5 + 1./(1<<53)
	// nobody is the threshold if only illicit rows are known, which say nothing about how others differ.
	nobody = 1
	// support is the minimum number of alerts, or all illicit rows if they are fewer, for a
	// threshold to be preferred for its precision alone: the precision of one alert is 0 or 1.
	support = 10
)

// Choose returns the threshold of the rule on probabilities of illicit with their labels, one of
// each per transaction; those with unknown label are ignored. A transaction is illicit from the
// threshold upwards. If any threshold between two probabilities is equivalent, it is their middle,
// see quality.Cuts; the result depends only on the set of pairs.
//
//   - auto: the best F1; of equal ones, the highest threshold.
//   - precision: the lowest threshold that reaches the precision. If none does,
//     the one with the highest precision of those that raise at least ten alerts, or
//     as many as there are illicit rows, if fewer; of equal ones, the lowest.
//   - budget: all probabilities are those of one scored timestep, and labels count
//     for nothing and may be nil. The threshold is the n-th highest probability, or
//     the lowest if there are no more than n. Those that tie with the n-th are
//     alerts as well, so that none is preferred, and then there are more than n. If
//     all of more than n tie, nothing tells them apart, and none is an alert.
//   - a number: that number.
//
// Without rows, and for auto and precision without an illicit row, it is Undecided. For auto and precision
// without a licit row it is 1. Probabilities must not be NaN. It panics if the lengths differ.
func Choose(rule Rule, probabilities []float64, labels []lethe.Label) (threshold float64) {
	switch rule.kind {
	case fixed:
		return rule.value
	case budget:
		return atBudget(probabilities, int(rule.value))
	default:
	}
	if len(probabilities) != len(labels) {
		panic("decision: number of probabilities and of labels differ")
	}
	var scores []float64
	var positive []bool
	illicit := 0
	for i, label := range labels {
		if label == lethe.Unknown {
			continue
		}
		scores, positive = append(scores, probabilities[i]), append(positive, label == lethe.Illicit)
		if label == lethe.Illicit {
			illicit++
		}
	}
	switch illicit {
	case 0:
		return Undecided
	case len(scores):
		return nobody
	}
	if rule.kind == precision {
		return atPrecision(quality.Cuts(scores, positive), rule.value, min(support, illicit))
	}
	_, threshold, _ = quality.BestF1(scores, positive)
	return threshold
}

// atPrecision chooses from cuts, of which the last contains all rows, so at least the minimum
// number.
func atPrecision(cuts []quality.Cut, wanted float64, least int) float64 {
	highest, best := -1.0, Undecided
	for _, c := range slices.Backward(cuts) {
		got := c.Precision()
		if got >= wanted {
			return c.Threshold
		}
		if c.Taken >= least && got > highest {
			highest, best = got, c.Threshold
		}
	}
	return best
}

// atBudget is the n-th highest probability.
func atBudget(probabilities []float64, n int) float64 {
	if len(probabilities) == 0 {
		return Undecided
	}
	sorted := slices.Sorted(slices.Values(probabilities))
	if least := sorted[0]; len(sorted) > n && least == sorted[len(sorted)-1] {
		return min(math.Nextafter(least, 2), 1)
	}
	return sorted[max(len(sorted)-n, 0)]
}
