// Package layers holds the layers of the shard models as operators of a Gorgonia
// expression graph, each with its own gradient.
//
// Gorgonia builds the graph and differentiates it. Every operator is ours, works on
// memory that it owns and calls the kernels.Set it was handed, so a run allocates
// nothing and nothing depends on Gorgonia's global BLAS. Where a value is used several
// times, Gorgonia adds the gradients; such an addition is run by a kernel too
// (sum.go). A graph is built for a capacity of rows and then serves every batch that
// fits; a Plan runs its operators.
//
// The files: builder.go, operator.go, source.go and plan.go are the graph and how it
// runs, bands.go which of its rows at a time; batch.go, graph.go, sparse.go and
// parameters.go what it runs on; keyed.go the random draws. Every other file is a layer, a
// function of the builder and the nodes that it takes, such as Linear.
//
// Matrices are row-major with a row per node. The weight of a linear layer is
// kept as [in, out], the transpose of PyTorch's, because that lets sparse input
// rows pick whole rows of it; Spec converts.
//
// Products that feed a sum are written float32(a*b): the conversion forbids the
// compiler to fuse the two, so that the portable kernels give the same bits on
// every architecture.
package layers
