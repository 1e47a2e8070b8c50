package sortedcells_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/sortedcells"
)

// keysOf are so many keys in no order, each of them several times.
func keysOf(n int) []sortedcells.Key {
	out := make([]sortedcells.Key, n)
	for i := range out {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i*7919%(n/2+1))))
		out[i] = sortedcells.Key(sum[:16])
	}
	return out
}

func compared(a, b sortedcells.Key) int { return bytes.Compare(a[:], b[:]) }

// Few are sorted as many are.
func TestSortedAsBySlices(t *testing.T) {
	for _, n := range []int{0, 1, 100, 1023, 1024, 5000} {
		keys := keysOf(n)
		want := slices.Clone(keys)
		slices.SortFunc(want, compared)
		sortedcells.Sort(keys, func(k *sortedcells.Key) byte { return k[0] }, compared)
		require.Equal(t, want, keys, "%d keys", n)
	}
}

// A table of many has them all in their order.
func TestTableOfMany(t *testing.T) {
	keys := keysOf(5000)
	table, of := sortedcells.Of[int](keys)
	require.True(t, slices.IsSortedFunc(table.Cells, func(a, b sortedcells.Cell[int]) int {
		return compared(a.Key, b.Key)
	}))
	for i, key := range keys {
		require.Equal(t, key, of[i].Key)
	}
	require.Len(t, table.Cells, len(slices.CompactFunc(slices.SortedFunc(slices.Values(keys), compared),
		func(a, b sortedcells.Key) bool { return a == b })))
}

type numbered struct {
	key  sortedcells.Key
	more int32
}

func BenchmarkSort(b *testing.B) {
	const n = 2800
	all := make([]numbered, n)
	for i, key := range keysOf(2 * n)[:n] {
		all[i] = numbered{key, int32(i)}
	}
	compare := func(a, b numbered) int {
		return cmp.Compare(binary.BigEndian.Uint64(a.key[:8]), binary.BigEndian.Uint64(b.key[:8]))
	}
	list := make([]numbered, n)
	b.Run("dealt", func(b *testing.B) {
		for b.Loop() {
			copy(list, all)
			sortedcells.Sort(list, func(e *numbered) byte { return e.key[0] }, compare)
		}
	})
	b.Run("slices", func(b *testing.B) {
		for b.Loop() {
			copy(list, all)
			slices.SortFunc(list, compare)
		}
	})
}
