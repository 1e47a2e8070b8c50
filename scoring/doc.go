// Package scoring turns what the shard models say into one answer per
// transaction, and measures how good the answers are.
//
// It weighs shards by how much their graphs resemble the graph that is scored
// (the pyramid match kernel of Nikolentzos, Meladianos and Vazirgiannis,
// "Matching Node Embeddings for Graph Similarity", AAAI 2017, used as in Wang,
// Huai and Wang, "Inductive Graph Unlearning", USENIX Security 2023), combines
// posteriors, names predictions so that a replay repeats them, and computes
// classification metrics.
//
// For evaluation it also learns weights (LearnWeights) and propagates known
// labels (Propagate). Neither is served. A prediction leaves when its timestep
// closes, before the first label of that timestep is due, and graphs of
// different timesteps share no edge, so there is nothing to propagate; a scorer
// that waited for some labels would make predictions depend on how topics
// interleave. What labels in time would be worth can be measured offline, with
// those that had arrived alone (lethe-lab train --known-labels). Weights learnt from labels would have to be learnt anew within
// every erasure.
//
// The package is pure: equal input gives equal bytes, whatever the number of
// threads. It knows no broker, no store and no metrics library.
package scoring
