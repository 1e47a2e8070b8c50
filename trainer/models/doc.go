// Package models has the graph neural network that a service trains, as parameters, buffers and a formula of layers,
// and the description of other networks (Family): they are passed to the trainer as an argument.
//
// EllipticGIN is that of Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX Security 2023), for the Elliptic
// data. Parameters and buffers have PyTorch Geometric's names and initial distributions.
//
//	family.go                    how a network is described
//	architecture.go, network.go  sizes, settings and the built network
//	elliptic.go                  the service's network
package models
