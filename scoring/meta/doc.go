// Package meta is the model above the models of an ensemble: it turns the logits of the components
// for a transaction into one calibrated probability and a class. It is a stacked combination
// (package stack), a calibration of its logit (package calibrate) and a threshold (package
// decision), all learned from the same rows.
//
//   - config.go: what shapes it, and its fingerprint
//   - model.go: what is learnt, applied
//   - fit.go: how it is learnt
//   - codec.go: its canonical bytes
//   - lineage.go: what it must have learnt from
//
// A meta-model depends only on the set of rows and the configuration. It has no history, so after
// an erasure it can be rebuilt from one pass of predictions.
//
// The package is pure.
package meta
