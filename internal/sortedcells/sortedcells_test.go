package sortedcells_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/sortedcells"
)

// Keys ascend, each once; every key of the list is told its cell, equal ones the same; and no other is found.
func TestCellsAreThoseOfTheirKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := rapid.Custom(func(rt *rapid.T) (k sortedcells.Key) {
			// Few different ones, which differ early or late.
			k[rapid.SampledFrom([]int{0, 7, 8, 15}).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
			return k
		})
		keys := rapid.SliceOf(draw).Draw(rt, "keys")
		table, of := sortedcells.Of[int](keys)
		want := slices.Clone(keys)
		slices.SortFunc(want, func(a, b sortedcells.Key) int { return bytes.Compare(a[:], b[:]) })
		got := make([]sortedcells.Key, 0, len(keys))
		for _, c := range table.Cells {
			got = append(got, c.Key)
		}
		require.Equal(rt, append([]sortedcells.Key{}, slices.Compact(want)...), got)
		require.Len(rt, of, len(keys))
		for i, key := range keys {
			require.Equal(rt, key, of[i].Key)
			require.Same(rt, of[i], table.Find(key))
			of[i].Value++
		}
		for _, c := range table.Cells {
			n := 0
			for _, key := range keys {
				if key == c.Key {
					n++
				}
			}
			require.Equal(rt, n, c.Value, "cells of equal keys are one")
		}
		if other := draw.Draw(rt, "other"); !slices.Contains(keys, other) {
			require.Nil(rt, table.Find(other))
		}
	})
	require.Nil(t, (*sortedcells.Table[int])(nil).Find(sortedcells.Key{}))
}
