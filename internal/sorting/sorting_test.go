package sorting_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/sorting"
)

func TestItSortsAsPackageSlicesDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type record struct{ key, place int }
		var list []record
		for i, key := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(rt, "keys") {
			list = append(list, record{key, i})
		}
		byKey := func(a, b record) int { return cmp.Compare(a.key, b.key) }
		whole := func(a, b record) int { return cmp.Or(byKey(a, b), cmp.Compare(b.place, a.place)) }
		want, got := slices.Clone(list), slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		sorting.StableBy(got, byKey)
		require.Equal(rt, want, got)
		slices.SortFunc(want, whole)
		sorting.By(got, whole)
		require.Equal(rt, want, got)
	})
}
