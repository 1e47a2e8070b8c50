// Package similarity compares graphs by the pyramid match kernel of Nikolentzos,
// Meladianos and Vazirgiannis, "Matching Node Embeddings for Graph Similarity",
// AAAI 2017: nodes become points by the leading eigenvectors of the adjacency
// matrix (eigen*.go, components.go), points become histograms of cells on several
// levels (histogram*.go), and two histograms are compared level by level
// (kernel.go).
//
// A histogram is the aggregation vector of a shard: it has canonical bytes and holds no identifier.
// The result depends neither on the numbering of nodes nor on the number of threads.
package similarity
