package lethe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

func TestLabelNamesRoundTrip(t *testing.T) {
	for l := lethe.Unknown; l < lethe.NumLabels; l++ {
		got, err := lethe.ParseLabel(l.String())
		require.NoError(t, err)
		require.Equal(t, l, got)
	}
	_, err := lethe.ParseLabel("fraud-of-somebody")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "somebody", "an error must not repeat its input")
}

func TestSecretNeverPrints(t *testing.T) {
	s := lethe.Secret{1, 2, 3}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, "[redacted]", fmt.Sprintf(format, s))
	}
}

func TestHashFramesItsParts(t *testing.T) {
	s := lethe.Secret{7}
	require.NotEqual(t, s.Hash("p", []byte("ab"), []byte("c")), s.Hash("p", []byte("a"), []byte("bc")))
	require.NotEqual(t, s.Hash("p", []byte("ab")), s.Hash("q", []byte("ab")))
	require.NotEqual(t, s.Hash("p", []byte("ab")), lethe.Secret{8}.Hash("p", []byte("ab")))
	suppression := s.Suppression("a")
	pseudonym := s.Pseudonym("a")
	require.NotEqual(t, suppression[:16], pseudonym[:], "the two must not be linkable")
}

func TestDrawDependsOnEveryCoordinate(t *testing.T) {
	base := lethe.NewDraw(1, "mixup", 2, 3).Uint64()
	require.Equal(t, base, lethe.NewDraw(1, "mixup", 2, 3).Uint64())
	last := lethe.NewDraw(1, "mixup", 2).At(3)
	require.Equal(t, base, last.Uint64())
	for name, d := range map[string]*lethe.Draw{
		"seed":    lethe.NewDraw(2, "mixup", 2, 3),
		"purpose": lethe.NewDraw(1, "mixuq", 2, 3),
		"order":   lethe.NewDraw(1, "mixup", 3, 2),
		"length":  lethe.NewDraw(1, "mixup", 2, 3, 0),
	} {
		require.NotEqual(t, base, d.Uint64(), name)
	}
}

func TestDrawIsUniformAndNormal(t *testing.T) {
	d := lethe.NewDraw(11, "moments")
	const n = 200_000
	var mean, square, normal, normalSquare float64
	var buckets [7]int
	for range n {
		u := d.Float64()
		require.True(t, u >= 0 && u < 1)
		mean += u / n
		square += u * u / n
		z := d.Normal()
		normal += z / n
		normalSquare += z * z / n
		buckets[d.IntN(7)]++
	}
	require.InDelta(t, 0.5, mean, 0.005)
	require.InDelta(t, 1.0/3, square, 0.005)
	require.InDelta(t, 0, normal, 0.01)
	require.InDelta(t, 1, normalSquare, 0.02)
	for _, b := range buckets {
		require.InDelta(t, n/7, b, 5*math.Sqrt(n/7))
	}
}

func snapshotGen(rt *rapid.T) *lethe.Snapshot {
	n := rapid.IntRange(0, 12).Draw(rt, "nodes")
	s := &lethe.Snapshot{Timestep: 3, FeatureCount: 2}
	for i := range n {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}})
		s.Features = append(s.Features, float32(i), float32(-i))
	}
	for a := range n {
		for b := range n {
			if a != b && rapid.Bool().Draw(rt, "payment") {
				s.Payments = append(s.Payments, lethe.Arc{Source: uint32(a), Target: uint32(b)})
			}
		}
	}
	return s
}

func TestWithoutEqualsNeverHaving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := snapshotGen(rt)
		require.NoError(rt, s.Validate())
		gone := lethe.Pseudonym{byte(rapid.IntRange(0, 12).Draw(rt, "gone"))}
		out := s.Without(func(p lethe.Pseudonym) bool { return p == gone })
		require.NoError(rt, out.Validate())
		_, found := out.Find(gone)
		require.False(rt, found)
		want := 0
		for _, p := range s.Payments {
			if s.Nodes[p.Source].Pseudonym != gone && s.Nodes[p.Target].Pseudonym != gone {
				want++
			}
		}
		require.Len(rt, out.Payments, want)
		for i, n := range out.Nodes {
			at, ok := s.Find(n.Pseudonym)
			require.True(rt, ok)
			require.Equal(rt, s.Row(at), out.Row(i))
		}
	})
}

func TestUndirectedMergesBothWays(t *testing.T) {
	s := &lethe.Snapshot{
		Nodes:    make([]lethe.SnapshotNode, 3),
		Payments: []lethe.Arc{{Source: 0, Target: 1}, {Source: 1, Target: 0}, {Source: 2, Target: 0}},
	}
	require.Equal(t, []lethe.Edge{{A: 0, B: 1}, {A: 0, B: 2}}, s.Undirected())
}

func TestMissingFeaturesCanBeZero(t *testing.T) {
	require.True(t, lethe.IsMissing(lethe.Missing()))
	require.False(t, lethe.IsMissing(0))
	whole := []float32{1, 0, float32(math.Inf(1))}
	require.Same(t, &whole[0], &lethe.ZeroMissing(whole)[0], "not copied")
	row := []float32{1, lethe.Missing(), 2, lethe.Missing()}
	require.Equal(t, []float32{1, 0, 2, 0}, lethe.ZeroMissing(row))
	require.True(t, lethe.IsMissing(row[1]), "the caller's are not changed")
}
