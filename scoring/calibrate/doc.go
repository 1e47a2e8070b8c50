// Package calibrate turns logits into probabilities that are as often right as
// they say: of the transactions given .8, about eight of ten should be illicit.
//
//   - calibration.go: the methods, and how one is fitted
//   - platt.go: a logistic curve (Platt, "Probabilistic Outputs for Support Vector
//     Machines", 1999)
//   - isotonic.go: the best curve that never falls (Zadrozny and Elkan,
//     "Transforming Classifier Scores into Accurate Multiclass Probability
//     Estimates", KDD 2002)
//   - codec.go: their bytes
//
// Every calibration keeps the order of logits, so that ranking, and with it AUC and
// average precision, stay as they are up to rounding.
//
// A calibration is a function of the set of rows and the configuration: the same
// bytes in whatever order the rows come, and on every processor. After an erasure
// it is fitted anew on the rows that are left.
package calibrate
