// Package graphs is the role that turns records into graphs and graphs into
// slices, and that carries out erasures.
//
// It follows transactions.v1, labels.v1, erasures.v1 and erasure-status.v1. One
// goroutine owns all state: a timestep is never closed, settled and rewritten
// at once. What is published is repeatable: after a crash the same messages go
// out again under the same keys with the same bytes.
//
//	intake.go     records into the snapshot store, refused ones to dlq.v1
//	lifecycle.go  closing and settling timesteps, publishing graphs and slices
//	erase_*.go    the steps of an erasure
//	verify.go     searching disks and topics for what should be gone
//	receipt.go    what the receipt states
package graphs
