// Package repair divides a partitioned snapshot into slices and gives each node a stub for every neighbour that it lost
// to another shard.
//
//	config.go           the ways to fill in a missing neighbour
//	slices.go           a snapshot as slices
//	stubs.go, truth.go  stubs; the true neighbours, for an ablation
package repair
