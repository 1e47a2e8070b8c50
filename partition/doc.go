// Package partition cuts the graph of one timestep into shards.
//
// A partition runs in three steps. A method proposes: gpfb-fast embeds the
// nodes by the generalised power iteration of Wang, Huai and Wang, "Inductive
// Graph Unlearning" (USENIX Security 2023, Algorithm 1), random shuffles them.
// Quotas correct it: the proposal is rounded so that every class, and the shard
// sizes, are spread as evenly as integers allow. Refinement then swaps nodes of
// one class between two shards, which leaves every count untouched while the
// number of cut edges falls.
//
// Here are the settings, the names of the methods, the run of the three steps and
// the search for GPFB's weights. The steps have packages of their own: graph (graph,
// assignment, quotas), gpfb and baselines (methods, behind the interface of
// method), kmeans (what they round embeddings with), coarsen and refine
// (refinement over several levels), scores, and repair, which cuts a partitioned
// snapshot into slices.
//
// Everything is pure: the result is a function of the graph, the options and the
// seed, whatever the number of processors.
package partition
