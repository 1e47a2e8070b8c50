package main

import (
	"context"

	"lethe"
	"lethe/scoring/stack"
	"lethe/trainer"
	"lethe/trainer/group"
)

// outOfGroup returns per node the mean logit of what the groups say of it that do not
// hold it: none of their models has learnt from the node. A node is looked at as it stands in its shard's slice,
// without the payments to other shards, as the service looks at it: what the combination is learnt from is a function
// of the slices alone.
func (t *trained) outOfGroup(ctx context.Context, s *step) ([]float64, error) {
	nodes := make([][]int, len(s.view(t.component).slices))
	for node, owner := range s.owners {
		nodes[owner] = append(nodes[owner], node)
	}
	out := make([]float64, len(s.owners))
	for shard, slice := range s.view(t.component).slices {
		said, err := t.askOthers(ctx, slice, len(nodes))
		if err != nil {
			return nil, err
		}
		// A slice has its nodes in the order of the graph.
		for i, node := range nodes[shard] {
			out[node] = said[i]
		}
	}
	return out, nil
}

// askOthers asks the groups that do not hold the slice of a shard about its nodes.
func (t *trained) askOthers(ctx context.Context, s *lethe.Slice, shards int) ([]float64, error) {
	if len(s.Nodes) == 0 {
		return nil, nil
	}
	said, err := t.ask(ctx, trainer.InputOfSlice(s), group.Of(s.Shard, t.groups, shards))
	if err != nil {
		return nil, err
	}
	return stack.MeanLogits(said), nil
}
