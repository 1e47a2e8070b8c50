// Package graph has the types that all parts of a partition share: the graph of a timestep, the
// assignment of its nodes to shards, and the quotas of even shards.
package graph
