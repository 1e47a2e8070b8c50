// Package gpfb has the generalised power iteration of Wang, Huai and Wang,
// "Inductive Graph Unlearning" (USENIX Security 2023), as a method of partition.
//
//   - config.go: the weights, and when the iteration ends;
//   - power.go: that iteration;
//   - fast.go, clusters.go: GPFB-Fast, on the graph or on its clusters;
//   - operator.go, cluster_operator.go: the matrices as sparse operators;
//   - start.go, polar.go: the start, and the step onto the Stiefel manifold;
//   - fillquotas.go, regret.go: from an embedding to shards under quotas.
//
// Nothing here holds an array of nodes times nodes.
package gpfb
