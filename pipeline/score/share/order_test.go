package share_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/score/share"
)

func TestOrder(t *testing.T) {
	require.Equal(t, []lethe.ShardID{0, 2, 4, 3, 1}, share.Order(0, 2, 5), "who leads meets the other")
	require.Equal(t, []lethe.ShardID{1, 3, 0, 2, 4}, share.Order(1, 2, 5))
	require.Equal(t, []lethe.ShardID{0, 3, 5, 4, 2, 1}, share.Order(0, 3, 6))
	require.Equal(t, []lethe.ShardID{2, 5, 1, 4, 0, 3}, share.Order(2, 3, 6), "what leads is left to the end")
	require.Equal(t, []lethe.ShardID{0, 1}, share.Order(0, 1, 2), "nobody else")
}

// Whatever their number, each member asks every model once, and no two begin with the same one
// while there are models for all.
func TestEachModelIsInEveryOrder(t *testing.T) {
	for members := 1; members < 7; members++ {
		for models := range 12 {
			first := make(map[lethe.ShardID]bool)
			for place := range members {
				order := share.Order(place, members, models)
				if place < models {
					require.False(t, first[order[0]])
					first[order[0]] = true
				}
				slices.Sort(order)
				require.Len(t, slices.Compact(order), models)
			}
		}
	}
}
