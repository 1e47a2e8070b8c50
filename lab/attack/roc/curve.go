package roc

import "gonum.org/v1/gonum/stat"

// Point is one point of a ROC curve.
type Point struct{ FalsePositiveRate, TruePositiveRate float64 }

// Curve returns the ROC curve from (0, 0) to (1, 1), one point per distinct
// score. It panics if the lengths differ.
func Curve(scores []float64, positive []bool) []Point {
	sorted, kinds := make([]float64, len(scores)), make([]bool, len(scores))
	copy(sorted, scores)
	copy(kinds, positive)
	stat.SortWeightedLabeled(sorted, kinds, nil)
	tpr, fpr, _ := stat.ROC(nil, sorted, kinds, nil)
	out := make([]Point, len(tpr))
	for i := range out {
		out[i] = Point{FalsePositiveRate: fpr[i], TruePositiveRate: tpr[i]}
	}
	return out
}

// CertainShare is the true positive rate at a false positive rate of 0.
func CertainShare(curve []Point) float64 {
	best := 0.0
	for _, p := range curve {
		if p.FalsePositiveRate == 0 {
			best = max(best, p.TruePositiveRate)
		}
	}
	return best
}
