// Package trainer is the shard-model engine: it trains one shard's model on
// that shard's slices and computes probabilities with it.
//
// A checkpoint is a pure function of the options, the shard's slices and the
// name of the kernel set. The package draws no unkeyed random number, reads no
// clock, starts no goroutine of its own and never lets the order of a map, the
// number of threads or the state of a pool reach a result.
//
// Gorgonia builds the expression graph and differentiates it; every operator
// in that graph is ours (operator.go, one file per layer), works on buffers
// that it owns and calls a Kernels value that is handed in, so nothing depends
// on Gorgonia's global BLAS. A graph is compiled for a capacity of rows and is
// then used for every slice that fits (program.go), because compiling costs
// more than a training step of a small slice.
//
// The model is the GIN that Wang, Huai and Wang run on the Elliptic data
// ("Inductive Graph Unlearning", USENIX Security 2023), with an optional linear
// skip from the raw features to the logits after Weber et al., "Anti-Money
// Laundering in Bitcoin" (2019).
//
// Products that feed a sum are written float32(a*b): the conversion forbids the
// compiler to fuse the two, so that the portable kernels give the same bits on
// every architecture.
package trainer
