package group

import (
	"fmt"

	"lethe"
)

// Of returns the group of a shard. There must be at least one group and at most as many as
// shards.
func Of(shard lethe.ShardID, groups, shards int) int {
	mustBe(groups, shards)
	return int(shard) * groups / shards
}

// Shards returns the shards of a group, ascending.
func Shards(group, groups, shards int) []lethe.ShardID {
	mustBe(groups, shards)
	// The first shard s with s·groups/shards ≥ group, rounded up.
	first := func(g int) int { return (g*shards + groups - 1) / groups }
	var out []lethe.ShardID
	for s := first(group); s < first(group+1); s++ {
		out = append(out, lethe.ShardID(s))
	}
	return out
}

// mustBe panics if there are no groups or more than shards: a programming error.
func mustBe(groups, shards int) {
	if groups < 1 || groups > shards {
		panic(fmt.Sprintf("group: %d groups of %d shards", groups, shards))
	}
}
