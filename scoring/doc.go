// Package scoring combines the posteriors of the shard models into one prediction per transaction.
//
//   - aggregate.go: the mean of the models' posteriors
//   - prediction.go, prediction_codec.go: the published records, with ids that are
//     the same on every replay
//
// In packages of their own, quality measures predictions, and package
// ensemble trains and evaluates the models of all shards. Packages stack, calibrate and decision
// turn the logits of several components into one logit, a probability and the served class.
//
// Weights by similarity or learned from labels (lab/aggregation) and propagation (lab/propagation) are
// for evaluation and not served. A prediction
// is published when its timestep closes, before the first label of that timestep is due, and graphs
// of different timesteps share no edge, so there is nothing to propagate; a scorer that waited for
// some labels would make predictions depend on how topics interleave. The value of timely labels
// can be measured offline, using only those that had arrived (lethe-lab train --known-labels).
// Weights learned from labels would have to be relearned within every erasure.
//
// The packages are pure: equal input gives equal bytes, whatever the number of threads. They use no
// broker, store, clock, log or metrics library.
package scoring
