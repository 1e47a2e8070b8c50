// Package group merges the slices of several shards, for a model that learns from more than one
// of them.
//
// A group is a union of shards. Groups are runs of consecutive shards whose sizes differ by at
// most one. If one number of groups divides another, every group of the larger number is part of
// one group of the smaller: of 20 shards, a group of 10 shards consists of two groups of 5. So a
// model that is cheap to fit may learn from many shards and is still replaced like a shard's:
// when a slice changes, so does the group's slice of that timestep.
//
// The package is pure.
package group
