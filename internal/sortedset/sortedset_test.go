package sortedset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/sortedset"
)

func TestSetsAscendWithoutRepeats(t *testing.T) {
	set := sortedset.Of([]int{3, 1, 3, 2, 1})
	require.Equal(t, []int{1, 2, 3}, set)
	require.Equal(t, []int{0, 1, 2, 3, 9}, sortedset.Add(set, 9, 2, 0))
	require.Empty(t, sortedset.Of([]string(nil)))
}
