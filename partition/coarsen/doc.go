// Package coarsen clusters a graph level by level, so that a partition can be found on a small
// graph and refined on the larger ones (multilevel partitioning).
//
// A Level is one graph, a Hierarchy all of them. cluster.go is the label propagation that finds
// the clusters of a level, tally.go its counters.
package coarsen
