package quality

import "math"

// CalibrationBins is the number of bins of CalibrationError, that of Guo et al.
const CalibrationBins = 15

// CalibrationError is the expected calibration error of probabilities of the positive class: Σ_m
// |B_m|/n · |positives(B_m)/|B_m| - mean probability of B_m| over 15 bins B_m of equal width in [0,
// 1] (Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian
// Binning", AAAI 2015; 15 bins as in Guo et al., "On Calibration of Modern Neural Networks", ICML
// 2017). Theirs is that of the most likely of several classes; with two classes, that of the
// positive one also covers errors below 1/2. A bin includes its lower end, the last one both.
// Without samples, or if a probability is NaN, it is undefined and ok is false. It does not depend
// on the order of samples. It panics if the lengths differ.
func CalibrationError(probabilities []float64, positive []bool) (expected float64, ok bool) {
	var sums [CalibrationBins]float64
	var positives [CalibrationBins]int
	groups := rank(probabilities, positive)
	// NaN ranks last.
	if len(groups) == 0 || math.IsNaN(groups[len(groups)-1].score) {
		return 0, false
	}
	for _, g := range groups {
		m := min(max(int(g.score*CalibrationBins), 0), CalibrationBins-1)
		sums[m] += float64(g.score * float64(g.positives+g.negatives))
		positives[m] += g.positives
	}
	for m, sum := range sums {
		gap := float64(positives[m]) - sum
		expected += max(gap, -gap)
	}
	return expected / float64(len(probabilities)), true
}

// Budgeted is the result of a budget of alerts per timestep.
type Budgeted struct {
	// Alerts is the number of raised alerts, Illicit the number of illicit samples in total.
	Alerts, Illicit int
	// Right is the number of illicit samples among the alerts. Samples that tie for the last
	// places count in part, so it need not be an integer.
	Right float64
}

// Precision is the share of illicit samples in the alerts.
func (b Budgeted) Precision() float64 { return share(b.Right, b.Alerts) }

// Recall is the share of the illicit samples that have an alert.
func (b Budgeted) Recall() float64 { return share(b.Right, b.Illicit) }

func share(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}

// AtBudget raises alerts for the samples with the highest scores of one timestep, as many as the
// budget, or all if there are no more. Of samples that tie for the last places, the expected number
// counts as illicit. It panics if the lengths differ.
func AtBudget(scores []float64, positive []bool, budget int) Budgeted {
	var out Budgeted
	for _, g := range rank(scores, positive) {
		size := g.positives + g.negatives
		places := min(size, max(budget-out.Alerts, 0))
		out.Alerts += places
		out.Illicit += g.positives
		if places > 0 {
			out.Right += float64(places*g.positives) / float64(size)
		}
	}
	return out
}
