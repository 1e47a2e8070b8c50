package onehop_test

import (
	"math"
	"slices"
	"testing"

	"lethe/partition/onehop"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

func TestOneHopByHand(t *testing.T) {
	s := &lethe.Snapshot{
		FeatureCount: 2, Nodes: make([]lethe.SnapshotNode, 4),
		Features: []float32{1, 2, 3, 4, 5, 6, 7, 8},
		// 0 and 1 pay each other, which makes them neighbours once.
		Payments: []lethe.Arc{{Source: 0, Target: 1}, {Source: 1, Target: 0}, {Source: 2, Target: 1}},
	}
	one, two := float32(math.Log(2)), float32(math.Log(3))
	got := onehop.Undirected.Join(s)
	require.Equal(t, onehop.Undirected.Features(2), got.FeatureCount)
	require.Equal(t, []float32{
		1, 2, 3, 4, one,
		3, 4, 3, 4, two,
		5, 6, 3, 4, one,
		7, 8, 0, 0, 0,
	}, got.Features)
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, s.Features)
	require.Equal(t, s.Payments, got.Payments)
	require.Same(t, s, onehop.None.Join(s))
	require.Equal(t, 2, onehop.None.Features(2))

	directed := onehop.Directed.Join(s)
	require.Equal(t, onehop.Directed.Features(2), directed.FeatureCount)
	require.Equal(t, []float32{
		1, 2, 3, 4, 3, 4, one, one,
		3, 4, 3, 4, 1, 2, two, one,
		5, 6, 0, 0, 3, 4, 0, one,
		7, 8, 0, 0, 0, 0, 0, 0,
	}, directed.Features)
}

// A mean is that of the neighbours that have a value.
func TestMeansPassOverMissingValues(t *testing.T) {
	none := lethe.Missing()
	s := &lethe.Snapshot{
		FeatureCount: 2, Nodes: make([]lethe.SnapshotNode, 3), Features: []float32{none, 2, none, 4, 5, 6},
		Payments: []lethe.Arc{{Source: 0, Target: 2}, {Source: 1, Target: 2}, {Source: 2, Target: 0}},
	}
	one, two := float32(math.Log(2)), float32(math.Log(3))
	want := []float32{
		none, 2, 5, 6, 5, 6, one, one,
		none, 4, 0, 0, 5, 6, 0, one,
		5, 6, none, 3, none, 2, two, one,
	}
	got := onehop.Directed.Join(s).Features
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "value %d", i)
	}
}

// What makes one-hop features exact at scope stubs: taking a node out changes
// the rows of its neighbours and of nobody else.
func TestOneHopReachesNeighboursOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "nodes")
		s := &lethe.Snapshot{FeatureCount: 3}
		for i := range n {
			s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}})
			for range 3 {
				s.Features = append(s.Features, rapid.Float32Range(-9, 9).Draw(t, "feature"))
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "payments") {
			a, b := rapid.Uint32Range(0, uint32(n-1)).Draw(t, "a"), rapid.Uint32Range(0, uint32(n-1)).Draw(t, "b")
			if a != b {
				s.Payments = append(s.Payments, lethe.Arc{Source: a, Target: b})
			}
		}
		slices.SortFunc(s.Payments, lethe.Arc.Compare)
		s.Payments = slices.Compact(s.Payments)
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		mode, degrees := onehop.Undirected, 6
		if rapid.Bool().Draw(t, "directed") {
			mode, degrees = onehop.Directed, 9
		}
		before := mode.Join(s)
		after := mode.Join(s.Without(func(p lethe.Pseudonym) bool { return int(p[0]) == gone }))
		for i, node := range after.Nodes {
			old := int(node.Pseudonym[0])
			joined := slices.ContainsFunc(s.Undirected(), func(e lethe.Edge) bool {
				return e == lethe.Edge{A: uint32(min(old, gone)), B: uint32(max(old, gone))}
			})
			if joined {
				require.NotEqual(t, before.Row(old)[degrees:], after.Row(i)[degrees:])
			} else {
				require.Equal(t, before.Row(old), after.Row(i))
			}
		}
	})
}
