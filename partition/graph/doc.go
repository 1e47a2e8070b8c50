// Package graph holds what every part of a partition works on: the graph of a
// timestep, the assignment of its nodes to shards, and the quotas that even shards
// keep to.
package graph
