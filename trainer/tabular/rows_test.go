package tabular

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// A row's key depends on its node and timestep and on nothing else that the window
// holds.
func TestKeysAreThoseOfNodes(t *testing.T) {
	slice := func(at lethe.Timestep, nodes ...byte) *lethe.Slice {
		s := &lethe.Slice{Timestep: at, FeatureCount: 1}
		for _, n := range nodes {
			s.Nodes, s.Labels = append(s.Nodes, lethe.Pseudonym{n}), append(s.Labels, lethe.Licit)
			s.Features = append(s.Features, float32(n))
		}
		return s
	}
	all := FromSlices([]*lethe.Slice{slice(1, 1, 2, 3), slice(2, 3)})
	require.NoError(t, all.Check(2))
	some := FromSlices([]*lethe.Slice{slice(1, 3), slice(2, 3)})
	require.Equal(t, all.Keys[2:], some.Keys)
	seen := map[uint64]bool{}
	for _, k := range all.Keys {
		seen[k] = true
	}
	require.Len(t, seen, 4)
}

func TestCheckTakesMissingValues(t *testing.T) {
	r := Rows{Cols: 2, Features: []float32{1, lethe.Missing()}, Labels: []int32{1}}
	require.NoError(t, r.Check(2))
	r.Features[0] = float32(math.Inf(-1))
	require.ErrorIs(t, r.Check(2), ErrInvalidRows)
	r.Features[0], r.Keys = 0, []uint64{1, 2}
	require.ErrorContains(t, r.Check(2), "2 keys, want 1")
}
