// Package scoring turns what the shard models say into one answer per
// transaction.
//
//   - aggregate.go: the aggregations, which put the shards together, and where a
//     new one is registered
//   - aggregate_similarity.go: weights by how much a shard's graph resembles the
//     scored one (Wang, Huai and Wang, "Inductive Graph Unlearning", USENIX
//     Security 2023)
//   - learn.go, learn_config.go: weights learnt from labels
//   - combine.go: what an aggregation gives; the weighted sum of posteriors
//   - prediction.go, prediction_codec.go: the records that leave, named so that a
//     replay repeats them
//
// In packages of their own, similarity compares graphs, quality measures
// predictions, and package ensemble trains and asks the models of all shards.
// Packages stack, calibrate and decision go from the logits of several components
// to one, to a probability and to the served class.
//
// Learnt weights and propagation (lab/propagation) are for evaluation and not served. A prediction
// leaves when its timestep closes, before the first label of that timestep is
// due, and graphs of different timesteps share no edge, so there is nothing to
// propagate; a scorer that waited for some labels would make predictions depend
// on how topics interleave. What labels in time would be worth can be measured
// offline, with those that had arrived alone (lethe-lab train --known-labels).
// Weights learnt from labels would have to be learnt again within every erasure.
//
// The packages are pure: equal input gives equal bytes, whatever the number of
// threads. They know no broker, store, clock, log or metrics library.
package scoring
