package partition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// Whoever else is there, with whatever label and payments, a transaction has the shard that
// its own name chooses.
func TestIndependentShardsFollowFromNamesAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.Uint64(), 1, 60, rapid.ID[uint64]).Draw(rt, "names")
		c := DefaultsOf(MethodIndependent)
		c.Shards = rapid.IntRange(1, 9).Draw(rt, "shards")
		c.Seed = rapid.Uint64().Draw(rt, "seed")
		shardOf := func(names []uint64) map[uint64]lethe.ShardID {
			c.Timestep = lethe.Timestep(rapid.IntRange(0, 99).Draw(rt, "timestep"))
			c.Nodes = nil
			for _, name := range names {
				var p lethe.Pseudonym
				for i := range p {
					p[i] = byte(name >> (8 * (i % 8)))
				}
				c.Nodes = append(c.Nodes, p)
			}
			a, report, err := Run(t.Context(), graphtest.DrawOf(rt, len(names)), c)
			require.NoError(rt, err)
			require.Zero(rt, report.Swaps)
			out := make(map[uint64]lethe.ShardID)
			for i, name := range names {
				require.Less(rt, int(a[i]), c.Shards)
				out[name] = a[i]
			}
			return out
		}
		all := shardOf(names)
		some := slices.DeleteFunc(slices.Clone(names), func(uint64) bool { return rapid.Bool().Draw(rt, "gone") })
		for name, shard := range shardOf(some) {
			require.Equal(rt, all[name], shard)
		}
	})
}

// Even in expectation: of 20,000 transactions no shard of 20 is off by more than a tenth,
// which is 3.2 standard deviations.
func TestIndependentShardsAreEvenInExpectation(t *testing.T) {
	c := DefaultsOf(MethodIndependent)
	counts := make([]int, c.Shards)
	a, _, err := Run(t.Context(), edgeless(t, 20_000), c)
	require.NoError(t, err)
	for _, shard := range a {
		counts[shard]++
	}
	for shard, n := range counts {
		require.InDelta(t, 1000, n, 100, "shard %d", shard)
	}
	c.Seed++
	other, _, err := Run(t.Context(), edgeless(t, 20_000), c)
	require.NoError(t, err)
	require.NotEqual(t, a, other)
}

func TestNamesMustFitTheGraph(t *testing.T) {
	c := DefaultsOf(MethodIndependent)
	c.Nodes = make([]lethe.Pseudonym, 3)
	_, _, err := Run(t.Context(), edgeless(t, 4), c)
	require.EqualError(t, err, "partition: 3 names for 4 nodes")
}

// edgeless is a graph of n nodes of one class.
func edgeless(t *testing.T, n int) *graph.Graph {
	t.Helper()
	g, err := graph.New(n, nil, make([]uint8, n), 1)
	require.NoError(t, err)
	return g
}
