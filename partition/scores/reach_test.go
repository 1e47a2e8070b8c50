package scores_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/scores"
)

// Reach against the shards that hold the node or a stub for it, counted node by node.
func TestReachIsTheMeanOverTheNodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 15)
		shards := rapid.IntRange(1, 5).Draw(rt, "shards")
		a := make(graph.Assignment, g.N())
		s := &lethe.Snapshot{Nodes: make([]lethe.SnapshotNode, g.N())}
		for i := range a {
			a[i] = lethe.ShardID(rapid.IntRange(0, shards-1).Draw(rt, "shard"))
			for _, j := range g.Neighbors(i) {
				if int(j) > i {
					s.Payments = append(s.Payments, lethe.Arc{Source: uint32(i), Target: j})
				}
			}
		}
		total := 0
		for i := range a {
			total += len(graphtest.Affected(s, a, i))
		}
		scores, err := scores.Of(g, a, shards)
		require.NoError(rt, err)
		if g.N() == 0 {
			require.Zero(rt, scores.Reach)
			return
		}
		require.InDelta(rt, float64(total)/float64(g.N()), scores.Reach.Stubs, 1e-12)
		require.InDelta(rt, 1, scores.Reach.Shard, 0)
		require.InDelta(rt, shards, scores.Reach.Partition, 0)
	})
}

func TestAssignmentMustFit(t *testing.T) {
	g := graphtest.Communities(t, 2, 6)
	for want, a := range map[string]graph.Assignment{
		"3 shards given for 12 nodes": make(graph.Assignment, 3),
		"node 11 is in shard 2 of 2":  {11: 2},
	} {
		_, err := scores.Of(g, a, 2)
		require.ErrorIs(t, err, graph.ErrAssignment)
		require.ErrorContains(t, err, want)
	}
}
