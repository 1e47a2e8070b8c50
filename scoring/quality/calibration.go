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
