package spares_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/spares"
)

func TestAFewAreKept(t *testing.T) {
	var list spares.List[int]
	_, found := list.Take()
	require.False(t, found)
	for i := range spares.Most {
		require.True(t, list.Keep(i))
	}
	require.False(t, list.Keep(7), "there is no room for more")
	for i := range spares.Most {
		value, found := list.Take()
		require.True(t, found)
		require.Equal(t, spares.Most-1-i, value)
	}
	_, found = list.Take()
	require.False(t, found)
}
