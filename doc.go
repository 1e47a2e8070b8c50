// Package lethe holds the vocabulary that all other packages share: identifiers, timesteps,
// labels, snapshots, slices, pseudonyms and keyed random draws.
//
// It imports no broker, no store and no metrics library. Its types express the one idea behind
// lethe: a shard model is a pure function of the configuration, the seed and the shard's slices.
// So erasing a record means replacing a slice and replaying from there.
//
//	ids.go, records.go, target.go  identifiers; transactions, payments, labels; targets of an erasure
//	redaction.go                   erased features of a transaction
//	secret.go                      keyed hashes and pseudonyms
//	snapshot_graph.go, slice.go    the graph of a timestep, and a shard's part of it
//	suppressions.go, names.go      keyed hashes of erased targets; valid names
//	draw.go                        keyed random draws
package lethe
