// Package quality measures predictions against labels: confusion matrices, AUC
// and average precision with ties, the best F1 of any threshold, the calibration of
// probabilities, what a budget of alerts finds, summaries of two or more classes,
// tallies over timesteps, and how far scores drift. Every measure is 0 where its denominator is 0, as in
// scikit-learn, but for those that say that they are undefined there.
//
//	confusion.go    counts of true and predicted classes
//	ranking.go      AUC and average precision; cuts.go, thresholds and what they take
//	calibration.go  the calibration error
//	summary.go      two classes measured; matrix.go, several
//	tally.go        scores and labels over timesteps
//	drift.go        scores compared with those before
package quality
