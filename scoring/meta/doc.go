// Package meta is the model above the models of an ensemble: it turns the logits of
// the components for a transaction into one calibrated probability and a class. It
// is a stacked combination (package stack), a calibration of its logit (package
// calibrate) and a threshold (package decision), learnt together from the same rows.
//
//   - config.go: what shapes it, and its fingerprint
//   - model.go: what is learnt, applied
//   - fit.go: how it is learnt
//   - codec.go: its canonical bytes
//   - lineage.go: what it must have learnt from
//
// A meta-model is a function of the set of rows and the configuration. It keeps
// nothing of the past, so after an erasure one pass of predictions gives it anew.
//
// The package is pure.
package meta
