// Package lethe holds the vocabulary every other package shares: identifiers,
// timesteps, labels, snapshots, slices, pseudonyms and keyed random draws.
//
// It imports nothing of the project, no broker, no store and no metrics
// library. The one idea behind lethe is expressed in its types: a shard model
// is a pure function of the configuration, the seed and the shard's slices, so
// that forgetting a record is replacing a slice and replaying from there.
package lethe
