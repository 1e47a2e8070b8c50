package graphs

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

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

// encoded returns the slices of some shards as bytes.
func (c cut) encoded(content *snapshot.Content, shards []lethe.ShardID) ([][]byte, error) {
	out := make([][]byte, len(shards))
	err := sideBySide(len(shards), func(i int) error {
		s, err := repair.OneSlice(
			content.Snapshot, content.Info.Previous, content.Assignment, c.shards, shards[i], c.repair)
		if err != nil {
			return fmt.Errorf("slice of shard %d: %w", shards[i], err)
		}
		out[i] = canonical.EncodeSlice(s)
		return nil
	})
	return out, err
}

// sideBySide calls fn for all numbers below n, as many at a time as there are processors.
func sideBySide(n int, fn func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { return fn(i) })
	}
	return group.Wait()
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
	// As it is, without all, and without the nodes of each request that is not all.
	cuts := [][]int{nil, all}
	place := make([]int, len(requests))
	for i, nodes := range requests {
		switch own := sortedset.Of(slices.Clone(nodes)); {
		case len(own) == 0:
		case slices.Equal(own, all):
			place[i] = 1
		default:
			place[i] = len(cuts)
			cuts = append(cuts, own)
		}
	}
	digests := make([][]lethe.Digest, len(cuts))
	err := sideBySide(len(cuts), func(i int) (err error) {
		digests[i], err = c.without(content, cuts[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	differing := func(i int) []lethe.ShardID { return differing(digests[0], digests[i], content, cuts[i], scope) }
	alone := make([][]lethe.ShardID, len(requests))
	for i := range requests {
		alone[i] = differing(place[i])
	}
	return shared(differing(1), alone, requests), nil
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

// without returns the digests of the slices without some nodes, under the same assignment.
func (c cut) without(content *snapshot.Content, nodes []int) ([]lethe.Digest, error) {
	rest, kept := without(content, nodes)
	return c.digests(rest, content.Info.Previous, kept)
}

// without returns a timestep without some nodes, and the shards of the others.
func without(content *snapshot.Content, nodes []int) (*lethe.Snapshot, graph.Assignment) {
	gone := make(map[lethe.Pseudonym]bool)
	for _, node := range nodes {
		gone[content.Snapshot.Nodes[node].Pseudonym] = true
	}
	var kept graph.Assignment
	for i, n := range content.Snapshot.Nodes {
		if !gone[n.Pseudonym] {
			kept = append(kept, content.Assignment[i])
		}
	}
	return content.Snapshot.Without(func(p lethe.Pseudonym) bool { return gone[p] }), kept
}

// differing returns the shards whose slice has another digest without the nodes than with
// them. Scope shard takes only the nodes' own shards of these.
func differing(
	with, without []lethe.Digest, content *snapshot.Content, nodes []int, scope lethe.Scope,
) (out []lethe.ShardID) {
	own := make(map[lethe.ShardID]bool)
	for _, node := range nodes {
		own[content.Assignment[node]] = true
	}
	for i := range with {
		shard := lethe.ShardID(i)
		if with[i] != without[i] && (own[shard] || scope != lethe.ScopeShard) {
			out = append(out, shard)
		}
	}
	return out
}
