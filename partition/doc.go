// Package partition divides the graph of one timestep into shards.
//
// A partition runs in three steps. A method proposes shards: gpfb-fast embeds the nodes by the
// generalised power iteration of Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX
// Security 2023, Algorithm 1), random shuffles them. Quotas correct the proposal: it is rounded
// so that every class, and the shard sizes, are spread as evenly as integers allow. Refinement
// then swaps nodes of one class between two shards, which preserves all counts and reduces the
// number of cut edges.
//
// This package has the settings, the names of the methods and the sequence of the three steps.
// The steps have packages of their own: graph (graph, assignment,
// quotas), gpfb and baselines (methods, behind the interface of method), kmeans (rounding of
// embeddings), coarsen and refine (refinement over several levels), scores, and repair, which
// divides a partitioned snapshot into slices.
//
// Everything is pure: the result is a function of the graph, the options and the seed, for any
// number of processors.
package partition
