// Package meta is the model above the models of an ensemble: it turns the logits of the components
// for a transaction into one calibrated probability and a class. It is a stacked combination
// (package stack), a calibration of its logit (package calibrate) and a threshold (package
// decision), all learned from the same rows.
//
//   - config.go: its configuration and fingerprint
//   - model.go: the learned model and its use
//   - fit.go: learning it
//   - codec.go: its canonical bytes
//   - lineage.go: the identity of its inputs
//
// A meta-model depends only on the set of rows and the configuration. It has no history, so after
// an erasure it can be rebuilt from one pass of predictions.
//
// The package is pure.
package meta
