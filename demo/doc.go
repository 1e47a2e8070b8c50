// Package demo shows lethe at work in one process: an embedded broker, a stream
// replayed into it, predictions measured against labels that came later, one
// erasure, and the proof that what is served afterwards is what training without
// the record gives, byte for byte.
package demo
