// Package calibrate converts logits to probabilities that match observed frequencies: of the
// transactions with probability 0.8, about eight in ten should be illicit.
//
//   - calibration.go: the methods, and how one is fitted
//   - platt.go: a logistic curve (Platt, "Probabilistic Outputs for Support Vector
//     Machines", 1999)
//   - isotonic.go: the best curve that never falls (Zadrozny and Elkan,
//     "Transforming Classifier Scores into Accurate Multiclass Probability
//     Estimates", KDD 2002)
//   - codec.go: their bytes
//
// Every calibration preserves the order of logits, so that ranking, and with it AUC and average
// precision, stay the same up to rounding.
//
// A calibration depends only on the set of rows and the configuration: its bytes are the same for
// every order of the rows and on every processor. After an erasure it is refitted on the remaining
// rows.
package calibrate
