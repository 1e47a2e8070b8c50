package deletions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
)

// A request of a batch names the groups of its own shards.
func TestRefittedGroupsAreThoseOfTheShards(t *testing.T) {
	a := deletions.NewAck("r1", "train", "node-a", deletions.StepPurged)
	a.Shards = []lethe.ShardID{1, 2, 4}
	require.Empty(t, a.Refitted(a.Shards))
	a.Components = []deletions.ComponentGroups{
		{Model: "elliptic-gin", Groups: 5, Of: []int{1, 2, 4}, Network: true},
		{Model: "trees", Groups: 2, Of: []int{0, 0, 1}},
	}
	require.Equal(t, []deletions.RefittedGroups{
		{Model: "elliptic-gin", Groups: 5, Refitted: []int{1, 2, 4}, Network: true},
		{Model: "trees", Groups: 2, Refitted: []int{0, 1}},
	}, a.Refitted(a.Shards))
	require.Equal(t, []deletions.RefittedGroups{
		{Model: "elliptic-gin", Groups: 5, Refitted: []int{1, 2}, Network: true},
		{Model: "trees", Groups: 2, Refitted: []int{0}},
	}, a.Refitted([]lethe.ShardID{1, 2}))
	require.Empty(t, a.Refitted(nil))
}
