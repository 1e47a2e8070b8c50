package erase

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions"
	"lethe/partition/repair"
	"lethe/pipeline/graphs/cutting"
)

// What slices hold of stubs and edges no more once requests are carried out is what the plan says
// is gone, of all requests together; nothing that they hold then is.
func TestStubsAndPairsThatArePlannedToGoDo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawContent(rt)
		requests := make([]lethe.Removal, 2)
		for i := range requests {
			requests[i] = taking(c.Snapshot,
				rapid.SliceOfN(rapid.IntRange(0, len(c.Assignment)-1), 0, 2).Draw(rt, "nodes"),
				rapid.SliceOfN(rapid.IntRange(0, 8), 0, 3).Draw(rt, "payments")...)
		}
		by := cutting.Cut{Shards: 5, Repair: repair.Defaults()}
		gone := deletions.Gone{}
		for _, own := range joins(by, c.Snapshot, requests, lethe.ScopeStubs) {
			gone.Add(own)
		}
		stubs, pairs := make(map[deletions.GoneStub]bool), make(map[lethe.PseudonymPair]bool)
		for _, s := range append(gone.Stubs, gone.PairStubs...) {
			stubs[s] = true
		}
		for _, p := range gone.Pairs {
			pairs[p], pairs[lethe.PseudonymPair{Source: p.Target, Target: p.Source}] = true, true
		}
		all := together(requests)
		rest := c.Without(all)
		stubsAfter, edgesAfter := held(rt, by, rest.Snapshot, rest.Assignment)
		stubsBefore, edgesBefore := held(rt, by, c.Snapshot, c.Assignment)
		for s := range stubsBefore {
			if !all.Nodes[s.Owner] {
				require.Equal(rt, !stubsAfter[s], stubs[s], "a stub")
			}
		}
		for e := range edgesBefore {
			if !all.Nodes[e.Source] && !all.Nodes[e.Target] {
				require.Equal(rt, !edgesAfter[e], pairs[e], "an edge")
			}
		}
		for s := range stubsAfter {
			require.False(rt, stubs[s])
		}
		shard := joins(by, c.Snapshot, requests, lethe.ScopeShard)
		require.Empty(rt, append(shard[0].Stubs, shard[1].Stubs...), "at scope shard they stay")
		by.Repair.Method = repair.Mirror
		same := joins(by, c.Snapshot, requests, lethe.ScopeStubs)
		require.Empty(rt, append(same[0].PairStubs, same[1].Stubs...), "a constant factor tells nothing")
	})
}

// held are the stubs and edges of all slices of a timestep.
func held(rt *rapid.T, by cutting.Cut, s *lethe.Snapshot, a []lethe.ShardID) (
	stubs map[deletions.GoneStub]bool, edges map[lethe.PseudonymPair]bool,
) {
	list, err := repair.Slices(s, 3, a, by.Shards, by.Repair)
	require.NoError(rt, err)
	stubs, edges = make(map[deletions.GoneStub]bool), make(map[lethe.PseudonymPair]bool)
	for _, slice := range list {
		for _, st := range slice.Stubs {
			stubs[deletions.GoneStub{Owner: slice.Nodes[st.Owner], Lambda: st.Lambda}] = true
		}
		for _, e := range slice.Edges {
			edges[lethe.PseudonymPair{Source: slice.Nodes[e.A], Target: slice.Nodes[e.B]}] = true
		}
	}
	return stubs, edges
}
