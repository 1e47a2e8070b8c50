package lethe_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// What is not 0 at the columns becomes 0, in a row of its own; what is missing, and -0, is
// not 0.
func TestZeroedColumns(t *testing.T) {
	row := []float32{1, lethe.Missing(), 3, float32(math.Copysign(0, -1)), 0}
	for _, c := range []struct {
		columns lethe.Columns
		want    []float32
	}{
		{nil, []float32{0, 0, 0, 0, 0}},
		{lethe.Columns{1, 3, 9}, []float32{1, 0, 3, 0, 0}},
	} {
		got, changed := c.columns.Zeroed(row)
		require.True(t, changed)
		require.Equal(t, c.want, got)
		require.False(t, math.Signbit(float64(got[3])))
	}
	got, changed := lethe.Columns{4, 9}.Zeroed(row)
	require.False(t, changed)
	require.Len(t, got, 5)
	require.InDelta(t, 1, row[0], 0)
	require.True(t, lethe.IsMissing(row[1]))
}

// A transaction has all columns that some target names, until it is dropped, and others none.
func TestRedactionsOfATransaction(t *testing.T) {
	secret := lethe.Secret{1}
	var r lethe.Redactions
	_, redacted := r.Of(secret, "a")
	require.False(t, redacted)
	for _, target := range []lethe.Target{lethe.FeaturesOf("a", 3, 1), lethe.FeaturesOf("a", 2), lethe.FeaturesOf("b")} {
		r.Add(lethe.Redaction{Target: secret.Suppressed(target), Columns: target.Columns})
	}
	columns, redacted := r.Of(secret, "a")
	require.True(t, redacted)
	require.Equal(t, lethe.Columns{1, 2, 3}, columns)
	columns, redacted = r.Of(secret, "b")
	require.True(t, redacted)
	require.Empty(t, columns)
	_, redacted = r.Of(secret, "c")
	require.False(t, redacted)
	r.Drop([]lethe.Digest{secret.Suppressed(lethe.FeaturesOf("a", 1, 3)), {9}})
	columns, _ = r.Of(secret, "a")
	require.Equal(t, lethe.Columns{2}, columns)
	require.Len(t, r.List(), 2)
	require.True(t, lethe.Columns(nil).Cover(lethe.Columns{1}))
	require.False(t, lethe.Columns{1}.Cover(nil))
	require.True(t, lethe.Columns{1, 2}.Cover(lethe.Columns{2}))
}
