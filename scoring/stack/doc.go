// Package stack combines the components of an ensemble: each produces a logit of illicit for a
// transaction, and a logistic regression weighs these logits (Wolpert, "Stacked Generalization",
// 1992; Breiman, "Stacked Regressions", 1996, which found that coefficients should not be
// negative).
//
//   - logit.go: probabilities as logits, and the mean of a component's groups
//   - rows.go: the training rows and their order
//   - fit.go: learning the coefficients
//   - combination.go: the learned combination, its use and encoding
//
// Rows are out-of-group predictions: a component's logit for a transaction must come from models
// that have not learned from it, or the component that memorises best would get the largest weight.
//
// The coefficients are regularised towards the mean of the logits, so that few rows give the mean
// and many rows the best fit:
//
//	min over w ≥ 0, b of  Σ_i loss(w·z_i + b, y_i) + L2/2 Σ_k (w_k - 1/K)² + InterceptL2/2 b²
//
// On the rows it was fitted on, a combination cannot be much worse than its parts: the summed
// log-loss is at most that of the mean logit and, with rows of both classes, at most L2/2 above
// that of the best component, for any number of rows.
//
// A combination depends only on the set of rows and the configuration: its bytes are the same for
// every order of the rows and on every processor. It has no history, so after an erasure it is
// refitted on the remaining rows.
package stack
