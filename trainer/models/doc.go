// Package models has the graph neural networks that a shard may train, each in a file of its own as parameters,
// buffers and a formula of layers.
//
// They are the models of Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX Security 2023): two layers each for
// the citation graphs, and the GIN for the Elliptic data. Where the paper gives no sizes, they are those of PyTorch
// Geometric's citation benchmarks (DefaultArchitecture, DefaultSettings). families lists them: a new model needs a
// line there and a file of its own.
//
// Parameters and buffers have PyTorch Geometric's names and initial distributions.
//
//	family.go                                      the list of models, and how each is built
//	architecture.go, network.go                    sizes, settings and the built network
//	gcn.go, sage.go, gin.go, attention.go, mlp.go  models of the citation graphs
//	elliptic.go                                    models of the Elliptic data
package models
