package stored_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/snapshot/stored"
)

func TestRowsComeBackWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := stored.Row{
			ID:       lethe.TransactionID(rapid.StringN(0, 9, 20).Draw(rt, "id")),
			Features: append([]float32{}, rapid.SliceOfN(rapid.Float32(), 0, 5).Draw(rt, "features")...),
		}
		value := want.Encode()
		require.Len(rt, value, want.Bytes())
		got, err := stored.DecodeRow(value)
		require.NoError(rt, err)
		require.Equal(rt, want, got)
		g := lethe.Snapshot{FeatureCount: len(want.Features)}
		require.NoError(rt, stored.AddNode(&g, lethe.Pseudonym{1}, value))
		require.Equal(rt, want.ID, g.Nodes[0].ID)
		_, err = stored.DecodeRow(value[:rapid.IntRange(0, 3).Draw(rt, "cut")])
		require.ErrorIs(rt, err, stored.ErrCorrupt)
	})
}

func TestBlobsKeepNilAndEmptyApart(t *testing.T) {
	for _, want := range [][]byte{nil, {}, {1, 2}} {
		c := stored.Over(stored.AppendBlob(nil, want))
		require.Equal(t, want, c.Blob())
		require.NoError(t, c.Done("blob"))
	}
}

func TestPseudonymsEndAKey(t *testing.T) {
	a, b := lethe.Pseudonym{1}, lethe.Pseudonym{2}
	got, err := stored.Pseudonyms(stored.Key('k', a, b), 1, 2)
	require.NoError(t, err)
	require.Equal(t, []lethe.Pseudonym{a, b}, got)
	_, err = stored.Pseudonyms(stored.Key('k', a), 1, 2)
	require.ErrorIs(t, err, stored.ErrCorrupt)
}

// An erasure takes what is about a transaction of it, or about a payment of it in that direction, and makes features 0.
func TestAnErasureTakesWhatItNames(t *testing.T) {
	a, b, c := lethe.Pseudonym{1}, lethe.Pseudonym{2}, lethe.Pseudonym{3}
	gone := stored.Erasure{Removal: lethe.Removal{
		Nodes:    map[lethe.Pseudonym]bool{a: true},
		Payments: map[lethe.PseudonymPair]bool{{Source: b, Target: c}: true},
		Features: map[lethe.Pseudonym]lethe.Columns{c: {1}},
	}}
	for _, one := range []struct {
		about []lethe.Pseudonym
		goes  bool
	}{
		{[]lethe.Pseudonym{a}, true},
		{[]lethe.Pseudonym{b}, false},
		{[]lethe.Pseudonym{b, a}, true},
		{[]lethe.Pseudonym{b, c}, true},
		{[]lethe.Pseudonym{c, b}, false},
	} {
		require.Equal(t, one.goes, gone.Names(one.about), one.about)
	}
	require.Equal(t, []bool{false, true, false}, []bool{gone.Keeps(a), gone.Keeps(b), gone.Keeps(c)})
	row := stored.Row{ID: "c", Features: []float32{4, 5}}.Encode()
	value, err := gone.Redacted(c, row)
	require.NoError(t, err)
	got, err := stored.DecodeRow(value)
	require.NoError(t, err)
	require.Equal(t, []float32{4, 0}, got.Features)
	same, err := gone.Redacted(b, row)
	require.NoError(t, err)
	require.Equal(t, row, same)
}
