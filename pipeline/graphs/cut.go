package graphs

import (
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/sortedset"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/snapshot"
)

// cut is how a settled timestep is cut into slices.
type cut struct {
	shards int
	repair repair.Config
}

// digests returns the digest of every shard's slice.
func (c cut) digests(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment) ([]lethe.Digest, error) {
	list, err := repair.Slices(s, previous, a, c.shards, c.repair)
	if err != nil {
		return nil, err
	}
	out := make([]lethe.Digest, len(list))
	for i, slice := range list {
		out[i] = canonical.DigestSlice(slice)
	}
	return out, nil
}

// changed returns, for each of several requests, the shards whose slice gets another
// digest by it, ascending. A request is a list of nodes; the timestep is cut as it is,
// without the nodes of all, and without those of each. What changes by several requests
// together but by none alone is of all of them. A timestep that is not settled has no
// slices.
func (c cut) changed(
	content *snapshot.Content, requests [][]int, scope lethe.Scope,
) ([][]lethe.ShardID, error) {
	all := sortedset.Of(slices.Concat(requests...))
	if content.Assignment == nil || len(all) == 0 {
		return make([][]lethe.ShardID, len(requests)), nil
	}
	with, err := c.digests(content.Snapshot, content.Info.Previous, content.Assignment)
	if err != nil {
		return nil, err
	}
	together, err := c.differing(with, content, all, scope)
	if err != nil {
		return nil, err
	}
	alone := make([][]lethe.ShardID, len(requests))
	for i, nodes := range requests {
		if alone[i] = together; !slices.Equal(sortedset.Of(slices.Clone(nodes)), all) {
			if alone[i], err = c.differing(with, content, nodes, scope); err != nil {
				return nil, err
			}
		}
	}
	return shared(together, alone, requests), nil
}

// shared says whose the shards are that several requests change together. alone are
// those that each would change by itself.
func shared(together []lethe.ShardID, alone [][]lethe.ShardID, requests [][]int) [][]lethe.ShardID {
	out := make([][]lethe.ShardID, len(requests))
	for _, shard := range together {
		changesIt := func(own []lethe.ShardID) bool { return slices.Contains(own, shard) }
		nobodys := !slices.ContainsFunc(alone, changesIt)
		for i, nodes := range requests {
			if changesIt(alone[i]) || nobodys && len(nodes) > 0 {
				out[i] = append(out[i], shard)
			}
		}
	}
	return out
}

// differing returns the shards whose slice has another digest without the nodes than
// with them, under the same assignment. Scope shard takes only the nodes' own shards
// of these.
func (c cut) differing(
	with []lethe.Digest, content *snapshot.Content, nodes []int, scope lethe.Scope,
) (out []lethe.ShardID, err error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	own := make(map[lethe.ShardID]bool)
	gone := make(map[lethe.Pseudonym]bool)
	for _, node := range nodes {
		own[content.Assignment[node]] = true
		gone[content.Snapshot.Nodes[node].Pseudonym] = true
	}
	var kept graph.Assignment
	for i, n := range content.Snapshot.Nodes {
		if !gone[n.Pseudonym] {
			kept = append(kept, content.Assignment[i])
		}
	}
	rest := content.Snapshot.Without(func(p lethe.Pseudonym) bool { return gone[p] })
	without, err := c.digests(rest, content.Info.Previous, kept)
	if err != nil {
		return nil, err
	}
	for i := range with {
		shard := lethe.ShardID(i)
		if with[i] != without[i] && (own[shard] || scope != lethe.ScopeShard) {
			out = append(out, shard)
		}
	}
	return out, nil
}
