// Package trainer is the shard-model engine: it trains one shard's model on that shard's slices and computes
// probabilities with it.
//
// A checkpoint is a pure function of the options, the shard's slices and the name of the kernel set. The package draws
// no unkeyed random number, reads no clock and starts no goroutine of its own. Map order, the number of threads and the
// state of pools never affect a result.
//
// Package layers has the operators, package models the networks made of them and package kernels the float32 loops. A
// network is compiled for a capacity of rows and is then used for every slice that fits (program.go), because building
// and differentiating it costs more than a training step of a small slice.
//
// Products that feed a sum are written float32(a*b): the conversion forbids the compiler to fuse the two, so that the
// portable kernels give the same bits on every architecture.
//
//	config*.go, errors.go       the configuration, its bounds and its errors
//	engine.go                   Engine: chooses the program for a slice; pool.go, idle programs
//	train.go, adam.go           training on slices; the optimiser
//	predict.go, input.go        probabilities for a graph
//	attribution.go              attributions of a row's logit; integrated.go, for networks
//	program.go, batch.go        a compiled network, and slices as its input
//	narrow.go, selection.go     networks without the features that no slice of a window has
//	rowmodel.go                 trees and logistic regression
//	blend*.go                   several models per shard, weighed by their losses
//	checkpoint.go, codec.go     checkpoints and their bytes
//	fingerprint.go, lineage.go  digests of what a checkpoint depends on: configuration and slices
package trainer
