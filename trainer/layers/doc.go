// Package layers has the layers of the shard models as operators of a Gorgonia expression graph,
// each with its own gradient.
//
// Gorgonia builds the graph and differentiates it. Every operator is implemented here, works on
// memory that it owns and calls its kernels.Set, so a run allocates nothing and does not depend
// on Gorgonia's global BLAS. If a value is used several times, Gorgonia adds the gradients; such
// an addition also runs in a kernel (sum.go). A graph is built for a capacity of rows and then
// used for every batch that fits; a Plan runs its operators.
//
// The files: builder.go, operator.go, source.go and plan.go are the graph and its execution,
// bands.go its execution by bands of rows; batch.go, graph.go, sparse.go and parameters.go are
// its data; keyed.go the random draws. Every other file is a layer: a function of the builder and
// of its input nodes, such as Linear.
//
// Matrices are row-major with a row per node. The weight of a linear layer is stored as [in,
// out], the transpose of PyTorch's, so that sparse input rows select whole rows of it; Spec
// converts.
//
// Products that feed a sum are written float32(a*b): the conversion forbids the compiler to fuse
// the two, so that the portable kernels give the same bits on every architecture.
package layers
