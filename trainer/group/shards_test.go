package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/group"
)

func TestEveryShardIsInOneGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, 60).Draw(t, "shards")
		groups := rapid.IntRange(1, shards).Draw(t, "groups")
		next := 0
		for g := range groups {
			of := group.Shards(g, groups, shards)
			require.GreaterOrEqual(t, len(of), shards/groups)
			require.LessOrEqual(t, len(of), (shards+groups-1)/groups)
			for _, shard := range of {
				require.Equal(t, lethe.ShardID(next), shard, "runs of consecutive shards, each once")
				require.Equal(t, g, group.Of(shard, groups, shards))
				next++
			}
		}
		require.Equal(t, shards, next)
	})
}

func TestGroupsAreNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.IntRange(1, 10).Draw(t, "few")
		many := few * rapid.IntRange(1, 6).Draw(t, "times")
		shards := rapid.IntRange(many, 80).Draw(t, "shards")
		holder := map[int]int{}
		for shard := range lethe.ShardID(shards) {
			inner, outer := group.Of(shard, many, shards), group.Of(shard, few, shards)
			if known, ok := holder[inner]; ok {
				require.Equal(t, known, outer)
			}
			holder[inner] = outer
		}
	})
}

func TestGroupsThatCannotBe(t *testing.T) {
	require.PanicsWithValue(t, "group: 0 groups of 5 shards", func() { group.Of(0, 0, 5) })
	require.PanicsWithValue(t, "group: 6 groups of 5 shards", func() { group.Shards(0, 6, 5) })
}
