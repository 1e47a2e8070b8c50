package main

import (
	"lethe"
	"lethe/scoring/stack"
	"lethe/trainer/group"
)

// outOfGroup returns per node the mean logit of what the groups say of it that do not
// hold it: none of their models has learnt from the node. owners are the shards that
// hold the nodes.
func outOfGroup(said [][]float64, owners []lethe.ShardID, shards int) []float64 {
	out := make([]float64, len(owners))
	of := make([]float64, 0, len(said))
	for node, owner := range owners {
		holder := group.Of(owner, len(said), shards)
		of = of[:0]
		for g := range said {
			if g != holder {
				of = append(of, said[g][node])
			}
		}
		out[node] = stack.MeanLogit(of)
	}
	return out
}
