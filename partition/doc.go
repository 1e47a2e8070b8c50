// Package partition cuts the graph of one timestep into shards, and repairs
// what the cut took away.
//
// A partition runs in three steps. A method proposes: gpfb-fast embeds the
// nodes by the generalised power iteration of Wang, Huai and Wang, "Inductive
// Graph Unlearning" (USENIX Security 2023, Algorithm 1), random shuffles them.
// Quotas dispose: the proposal is rounded so that every class, and the shard
// sizes, are spread as evenly as integers allow. Refinement then swaps nodes of
// one class between two shards, which leaves every count untouched while the
// number of cut edges falls.
//
// Every cut edge leaves both ends with a missing neighbour. Slices gives each
// of them a stub, a generated neighbour that knows nothing but its owner.
//
// The package is pure: the result is a function of the graph, the options and
// the seed, whatever the number of processors. Nothing here ever holds an array
// of nodes times nodes.
package partition
