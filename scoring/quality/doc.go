// Package quality measures predictions against labels: confusion matrices, AUC and average precision
// with ties, the best F1 of any threshold, the calibration of probabilities, the yield of a budget of
// alerts, summaries of two or more classes, tallies over timesteps, and the drift of scores. Every
// measure is 0 if its denominator is 0, as in scikit-learn, except those documented as undefined.
//
//	confusion.go    counts of true and predicted classes
//	ranking.go      AUC and average precision; cuts.go, thresholds and the samples that they take
//	calibration.go  the calibration error
//	summary.go      measures of two classes; matrix.go, of several
//	tally.go        scores and labels over timesteps
//	drift.go        scores compared with those before
package quality
