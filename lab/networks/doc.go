// Package networks has the graph neural networks that the laboratory trains beside the service's, each in a file of
// its own as parameters, buffers and a formula of layers.
//
// They are the models of Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX Security 2023): two layers each for
// the citation graphs, and another form of the GIN for the Elliptic data. Where the paper gives no sizes, they are
// those of PyTorch Geometric's citation benchmarks. Parameters and buffers have PyTorch Geometric's names and initial
// distributions.
//
//	networks.go                                    the list of networks
//	gcn.go, sage.go, gin.go, attention.go, mlp.go  the networks
//	graphlayers                                    the layers that only they have
package networks
