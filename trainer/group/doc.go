// Package group puts the slices of several shards together, for a model that learns
// from more than one of them.
//
// A group is a union of shards. Groups are runs of consecutive shards whose sizes
// differ by at most one; where one number of groups divides another, every group of
// the larger number lies in one group of the smaller: of 20 shards, a group of 10
// shards is made of two groups of 5. So a model that is cheap to fit may learn from
// many shards and is still replaced as shards are: when a slice is, the group's slice
// of that timestep is another one.
//
// The package is pure.
package group
