package erase

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/pipeline/graphs/cutting"
	"lethe/snapshot"
)

// drawContent draws a settled timestep of a few transactions in up to 5 shards.
func drawContent(rt *rapid.T) *snapshot.Content {
	n := rapid.IntRange(1, 9).Draw(rt, "nodes")
	s := &lethe.Snapshot{Timestep: 4, FeatureCount: 2}
	c := &snapshot.Content{Snapshot: s, Info: snapshot.Info{Timestep: 4, Previous: 3}}
	for i := range n {
		node := lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}, Label: lethe.Label(i % lethe.NumLabels)}
		s.Nodes = append(s.Nodes, node)
		s.Features = append(s.Features, float32(i), 0.5)
		c.Assignment = append(c.Assignment, lethe.ShardID(rapid.IntRange(0, 4).Draw(rt, "shard")))
	}
	for a := range n {
		for b := range n {
			if a != b && rapid.IntRange(0, 3).Draw(rt, "payment") == 0 {
				s.Payments = append(s.Payments, lethe.Arc{Source: uint32(a), Target: uint32(b)})
			}
		}
	}
	return c
}

// taking is what takes out some nodes, and some payments, by their positions.
func taking(s *lethe.Snapshot, nodes []int, payments ...int) lethe.Removal {
	r := together(nil)
	for _, node := range nodes {
		r.Nodes[s.Nodes[node].Pseudonym] = true
	}
	for _, at := range payments {
		if at < len(s.Payments) {
			r.Payments[s.Pair(s.Payments[at])] = true
		}
	}
	return r
}

// A slice changes if it holds one of the nodes or a stub for one; with one-hop
// features that is where a neighbour's row changes, too. Without stubs only the
// nodes' own slices change, and scope shard never takes others.
func TestSlicesChangeWhereTheNodesAreOrHaveStubs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawContent(rt)
		gone := sortedset.Of(rapid.SliceOfN(rapid.IntRange(0, len(c.Assignment)-1), 1, 3).Draw(rt, "gone"))
		goes := func(node uint32) bool { return slices.Contains(gone, int(node)) }
		var own, stubs []lethe.ShardID
		for _, node := range gone {
			own = append(own, c.Assignment[node])
		}
		for _, p := range c.Snapshot.Payments {
			if goes(p.Source) || goes(p.Target) {
				stubs = append(stubs, c.Assignment[p.Source], c.Assignment[p.Target])
			}
		}
		own = sortedset.Of(own)
		stubs = sortedset.Add(stubs, own...)
		for _, want := range []struct {
			repair repair.Config
			scope  lethe.Scope
			shards []lethe.ShardID
		}{
			{repair.Defaults(), lethe.ScopeStubs, stubs},
			{repair.Defaults(), lethe.ScopeShard, own},
			{repair.Config{Method: repair.MixUp, Tau: 1, OneHop: onehop.Undirected}, lethe.ScopeStubs, stubs},
			{repair.Config{Method: repair.None, Tau: 1}, lethe.ScopeStubs, own},
		} {
			one := cutting.Cut{Shards: 5, Repair: want.repair}
			got, err := affected(one, c, []lethe.Removal{taking(c.Snapshot, gone)}, want.scope)
			require.NoError(rt, err)
			require.Equal(rt, [][]lethe.ShardID{want.shards}, got, "%+v at scope %s", want.repair, want.scope)
		}
	})
}

func TestWhatGoesWithTheNodesIsCounted(t *testing.T) {
	s := &lethe.Snapshot{Timestep: 7, Payments: []lethe.Arc{
		{Source: 0, Target: 1}, {Source: 1, Target: 0}, {Source: 1, Target: 2}, {Source: 2, Target: 3},
	}}
	for i, label := range []lethe.Label{lethe.Licit, lethe.Unknown, lethe.Illicit, lethe.Licit} {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}, Label: label})
	}
	c := &snapshot.Content{Snapshot: s, Assignment: []lethe.ShardID{0, 1, 1, 1}}
	before := cutEdges(c)
	step := count(c, taking(s, []int{0, 1}), before)
	require.Equal(t, []int{1, 3, 1}, []int{step.Labels, step.Payments, step.Stubs},
		"a pair that pays both ways is one cut edge")
	step = count(c, taking(s, nil, 0, 2), before)
	require.Equal(t, []int{0, 2, 0}, []int{step.Labels, step.Payments, step.Stubs}, "the payment back stays")
	step = count(c, taking(s, nil, 0, 1), before)
	require.Equal(t, []int{0, 2, 1}, []int{step.Labels, step.Payments, step.Stubs})
	c.Assignment = nil
	require.Zero(t, count(c, taking(s, []int{0, 1}), 0).Stubs, "before it is settled there are none")
	one := cutting.Cut{Shards: 3, Repair: repair.Defaults()}
	changed, err := affected(one, c, []lethe.Removal{taking(s, []int{0})}, lethe.ScopeStubs)
	require.NoError(t, err)
	require.Equal(t, [][]lethe.ShardID{nil}, changed)
}

// A payment is in the slices of both its ends, as an edge or as stubs, and with one-hop
// features in their rows. All scopes replace the same.
func TestSlicesOfBothEndsChangeWithAPayment(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawContent(rt)
		if len(c.Snapshot.Payments) == 0 {
			return
		}
		at := rapid.IntRange(0, len(c.Snapshot.Payments)-1).Draw(rt, "payment")
		p := c.Snapshot.Payments[at]
		ends := sortedset.Of([]lethe.ShardID{c.Assignment[p.Source], c.Assignment[p.Target]})
		if slices.Contains(c.Snapshot.Payments, lethe.Arc{Source: p.Target, Target: p.Source}) {
			ends = nil // the edge stays
		}
		for _, scope := range []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard} {
			one := cutting.Cut{Shards: 5, Repair: repair.Defaults()}
			got, err := affected(one, c, []lethe.Removal{taking(c.Snapshot, nil, at)}, scope)
			require.NoError(rt, err)
			require.Equal(rt, ends, got[0], "at scope %s", scope)
		}
	})
}

// repairs are the ways in which a timestep is cut.
func repairs() []repair.Config {
	return []repair.Config{
		repair.Defaults(),
		{Method: repair.None, Tau: 1},
		{Method: repair.MixUp, Tau: 1, OneHop: onehop.Undirected},
		{Method: repair.None, Tau: 1, OneHop: onehop.Directed},
	}
}

// A request that is alone in a timestep replaces every slice whose digest changes, and
// requests that share one replace together exactly those: none is left out, and none is
// of a request that would not change it alone.
func TestEveryChangedSliceIsOfTheRequestsThatChangeIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawContent(rt)
		nodes := rapid.SliceOfN(rapid.IntRange(0, len(c.Assignment)-1), 0, 3)
		payments := rapid.SliceOfN(rapid.IntRange(0, max(0, len(c.Snapshot.Payments)-1)), 0, 3)
		requests := make([]lethe.Removal, rapid.IntRange(1, 3).Draw(rt, "requests"))
		for i := range requests {
			requests[i] = taking(c.Snapshot, nodes.Draw(rt, "nodes"), payments.Draw(rt, "payments")...)
		}
		scope := rapid.SampledFrom([]lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard}).Draw(rt, "scope")
		one := cutting.Cut{Shards: 5, Repair: rapid.SampledFrom(repairs()).Draw(rt, "repair")}
		all, err := affected(one, c, []lethe.Removal{together(requests)}, scope)
		require.NoError(rt, err)
		each, err := affected(one, c, requests, scope)
		require.NoError(rt, err)
		require.Equal(rt, all[0], sortedset.Of(slices.Concat(each...)))
		claimed := make(map[lethe.ShardID]bool)
		alone := make([][]lethe.ShardID, len(requests))
		for i, taken := range requests {
			own, err := affected(one, c, []lethe.Removal{taken}, scope)
			require.NoError(rt, err)
			alone[i] = own[0]
			for _, shard := range alone[i] {
				claimed[shard] = true
			}
		}
		for i, list := range each {
			for _, shard := range list {
				require.True(rt, slices.Contains(alone[i], shard) || !claimed[shard], "shard %d of request %d", shard, i)
			}
		}
	})
}

// A slice that changes by requests together and by none of them alone is of all that
// have something in the timestep; one that is the same without all of them is of none.
func TestWhatNoRequestChangesAloneIsOfAll(t *testing.T) {
	something := lethe.Removal{Nodes: map[lethe.Pseudonym]bool{{1}: true}}
	got := shared([]lethe.ShardID{1, 2, 3}, [][]lethe.ShardID{{1, 4}, {3}, nil}, []lethe.Removal{something, something, {}})
	require.Equal(t, [][]lethe.ShardID{{1, 2}, {2, 3}, nil}, got)
}

// Slices change where the transaction is and, with one-hop features, where a neighbour of it
// is; scope shard takes the own alone. Features that are 0 change none.
func TestSlicesChangeWithFeatures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawContent(rt)
		at := rapid.IntRange(0, len(c.Assignment)-1).Draw(rt, "node")
		column := rapid.IntRange(0, 2).Draw(rt, "column")
		gone := together(nil)
		gone.Redact(c.Snapshot.Nodes[at].Pseudonym, lethe.Columns{column})
		own := []lethe.ShardID{c.Assignment[at]}
		around := slices.Clone(own)
		for _, pair := range c.Snapshot.Undirected() {
			if int(pair.A) == at || int(pair.B) == at {
				around = append(around, c.Assignment[pair.A], c.Assignment[pair.B])
			}
		}
		slices.Sort(around)
		if around = slices.Compact(around); column == 2 || column == 0 && at == 0 {
			own, around = nil, nil // beyond the row, or 0 already
		}
		with := repair.Defaults()
		with.OneHop = onehop.Undirected
		for _, one := range []struct {
			repair repair.Config
			scope  lethe.Scope
			want   []lethe.ShardID
		}{
			{repair.Defaults(), lethe.ScopeStubs, own},
			{repair.Defaults(), lethe.ScopeShard, own},
			{with, lethe.ScopeStubs, around},
			{with, lethe.ScopeShard, own},
		} {
			got, err := affected(cutting.Cut{Shards: 5, Repair: one.repair}, c, []lethe.Removal{gone}, one.scope)
			require.NoError(rt, err)
			require.Equal(rt, one.want, got[0], "at scope %s", one.scope)
		}
	})
}
