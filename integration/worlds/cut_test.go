package worlds

import (
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/partition/graph"
	"lethe/partition/onehop"
	"lethe/partition/repair"
)

// cut compares the slices with the graphs that never held the targets, cut by the
// assignment that the others have.
func (c *comparison) cut(w world, got, want *state) {
	for t, m := range want.manifests {
		g, err := canonical.DecodeSnapshot(want.graphs[t].Payload)
		if err != nil {
			*c = append(*c, err.Error())
			return
		}
		shardOf := make(map[lethe.Pseudonym]lethe.ShardID)
		for shard := range lethe.ShardID(shards) {
			for _, p := range got.slices[place{t, shard}].Nodes {
				shardOf[p] = shard
			}
		}
		a := make(graph.Assignment, len(g.Nodes))
		for i, n := range g.Nodes {
			shard, known := shardOf[n.Pseudonym]
			c.equal(fmt.Sprintf("timestep %d: node %d has a shard", t, i), known, true)
			a[i] = shard
		}
		for i := range g.Nodes {
			g.Nodes[i].Label = lethe.Unknown
		}
		for _, l := range m.Labels {
			if node, found := g.Find(l.Pseudonym); found {
				g.Nodes[node].Label = l.Label
			}
		}
		if w.independent && !w.loose && !w.keepsStubs(t) ||
			!w.loose && w.dealtAfresh(t) || got.revisions[t] == 1 && want.revisions[t] == 1 {
			c.sameCut(t, got, want)
		}
		cut, err := repair.Slices(g, m.Previous, a, shards, repairConfig(w.oneHop))
		if err != nil {
			*c = append(*c, err.Error())
			return
		}
		for shard, s := range cut {
			have := got.slices[place{t, lethe.ShardID(shard)}]
			digest := canonical.DigestSlice(have)
			if w.keepsStubs(t) {
				// Scope shard leaves the stubs that others have for the target.
				have, s.Stubs = withStubs(have, nil), nil
			}
			c.equal(fmt.Sprintf("slice %d of %d", shard, t), canonical.DigestSlice(have), canonical.DigestSlice(s))
			c.equal(fmt.Sprintf("digest in manifest %d of shard %d", t, shard), got.manifests[t].Slices[shard], digest)
		}
	}
}

// sameCut compares the slices of a timestep whose shards are independent, or that was
// partitioned without the targets at last: equal without anything given.
func (c *comparison) sameCut(t lethe.Timestep, got, want *state) {
	for shard := range lethe.ShardID(shards) {
		at := place{t, shard}
		c.equal(fmt.Sprintf("slice %d of %d, cut once", shard, t),
			canonical.DigestSlice(got.slices[at]), canonical.DigestSlice(want.slices[at]))
	}
}

// withStubs returns a slice with other stubs.
func withStubs(s *lethe.Slice, stubs []lethe.Stub) *lethe.Slice {
	out := *s
	out.Stubs = stubs
	return &out
}

func repairConfig(rows onehop.Mode) repair.Config {
	c := repair.Defaults()
	c.Seed, c.OneHop = smallCut(false).Seed, rows
	return c
}
