// Package demo demonstrates lethe in one process: an embedded broker, a stream replayed into it,
// predictions measured against later labels, one erasure, and the proof that the served models are
// byte for byte those of training without the record.
package demo
