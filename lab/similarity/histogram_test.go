package similarity_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/canonical"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

func TestHistogramBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Graphs(20).Draw(rt, "graph")
		want := histogram(rt, g.N, g.Edges)
		data, err := want.MarshalBinary()
		require.NoError(rt, err)
		var got similarity.Histogram
		require.NoError(rt, got.UnmarshalBinary(data))
		require.Equal(rt, want, &got)
		again, err := got.MarshalBinary()
		require.NoError(rt, err)
		require.Equal(rt, data, again)
	})
}

func TestEmptyGraphIsLikeNoOther(t *testing.T) {
	none := histogram(t, 0, nil)
	require.Zero(t, none.NumNodes())
	k, err := similarity.Normalised(none, histogram(t, 5, graphtest.Path(5)))
	require.NoError(t, err)
	require.Zero(t, k)
}

func TestAlteredHistogramIsRefused(t *testing.T) {
	message, err := histogram(t, 6, graphtest.Path(6)).MarshalBinary()
	require.NoError(t, err)
	for n := range message {
		var h similarity.Histogram
		require.ErrorIs(t, h.UnmarshalBinary(message[:n]), canonical.ErrCorrupt)
		flipped := append([]byte(nil), message...)
		flipped[n] ^= 1
		require.ErrorIs(t, h.UnmarshalBinary(flipped), canonical.ErrCorrupt)
		require.Equal(t, similarity.Histogram{}, h, "a refused message must leave no trace")
	}
}

// Bytes with a right checksum that no histogram has.
func TestSealedNonsenseIsRefused(t *testing.T) {
	seal := func(dimensions, levels uint8, nodes uint32, cells ...uint32) []byte {
		w := canonical.NewWriter("LPMH", 1)
		w.Uint8(dimensions)
		w.Uint8(levels)
		w.Uint32(nodes)
		w.Count(len(cells) / 2)
		for _, v := range cells {
			w.Uint32(v)
		}
		return w.Seal()
	}
	var h similarity.Histogram
	require.NoError(t, h.UnmarshalBinary(seal(2, 1, 3, 0, 1, 1, 2, 3, 3)))
	for want, message := range map[string][]byte{
		"pyramid: dimensions is 0":     seal(0, 1, 0),
		"pyramid: levels is 200":       seal(1, 200, 0),
		"dimension 1 counts 0 nodes":   seal(2, 1, 3, 0, 3),
		"cells 0 and 1 are not":        seal(1, 1, 3, 1, 1, 0, 2),
		"cell 0 counts 0 nodes":        seal(1, 1, 0, 0, 0),
		"cell 0 counts 3 nodes in ind": seal(1, 1, 3, 2, 3),
	} {
		require.ErrorContains(t, h.UnmarshalBinary(message), want)
		require.ErrorIs(t, h.UnmarshalBinary(message), canonical.ErrCorrupt)
	}
	require.ErrorIs(t, h.UnmarshalBinary(canonical.NewWriter("LPMH", 9).Seal()), canonical.ErrVersion)
}

func TestKernelIsASimilarity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x, y := graphtest.Graphs(16).Draw(rt, "x"), graphtest.Graphs(16).Draw(rt, "y")
		a, b := histogram(rt, x.N, x.Edges), histogram(rt, y.N, y.Edges)
		ab, err := similarity.Kernel(a, b)
		require.NoError(rt, err)
		ba, err := similarity.Kernel(b, a)
		require.NoError(rt, err)
		require.Equal(rt, ab, ba)
		matches, err := similarity.Intersections(a, b)
		require.NoError(rt, err)
		for l := 1; l < len(matches); l++ {
			require.LessOrEqual(rt, matches[l], matches[l-1], "a finer level cannot match more")
		}
		normalised, err := similarity.Normalised(a, b)
		require.NoError(rt, err)
		require.True(rt, normalised >= 0 && normalised <= 1, "similarity %v", normalised)
		self, err := similarity.Normalised(a, a)
		require.NoError(rt, err)
		if x.N > 0 {
			require.Equal(rt, 1.0, self)
		} else {
			require.Zero(rt, self)
		}
	})
}

func TestHistogramsOfDifferentShapesDoNotCompare(t *testing.T) {
	a := histogram(t, 6, graphtest.Path(6))
	for _, change := range []func(*similarity.Config){
		func(c *similarity.Config) { c.Levels = 3 },
		func(c *similarity.Config) { c.Dimensions = 5 },
	} {
		shape := similarity.Defaults()
		change(&shape)
		b, err := similarity.HistogramOf(6, graphtest.Path(6), shape)
		require.NoError(t, err)
		_, err = similarity.Normalised(a, b)
		require.ErrorIs(t, err, similarity.ErrIncompatible)
	}
}
