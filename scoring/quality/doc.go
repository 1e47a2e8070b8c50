// Package quality measures predictions against labels: AUC and average precision with ties, the best
// F1 of any threshold, the calibration of probabilities, summaries of two classes, and the drift of
// scores. Every measure is 0 if its denominator is 0, as in scikit-learn, except those documented as
// undefined. Measures of more classes, of budgets and over timesteps are in lab/measures.
//
//	ranking.go      AUC and average precision; cuts.go, thresholds and the samples that they take
//	calibration.go  the calibration error
//	summary.go      all of them
//	drift.go        scores compared with those before
package quality
