package snapshot

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// A label that lethe published again is behind the settle record. A store that is made anew has not read it.
func TestRepeatsLabel_OfASettledTransactionWithoutLabel_False(t *testing.T) {
	ctx := t.Context()
	s, err := Open("data", optionsOf(vfs.NewMem()))
	require.NoError(t, err)
	b := begin(t, s, Transactions)
	for _, id := range []lethe.TransactionID{"a", "b"} {
		_, err := b.Transaction(lethe.Transaction{ID: id, Timestep: 1, Features: []float32{1}}, Origin{Offset: b.nextOffset})
		require.NoError(t, err)
	}
	end(t, b, 1)
	require.NoError(t, b.Commit(b.nextOffset))
	b = begin(t, s, Labels)
	end(t, b, 1)
	require.NoError(t, b.Commit(b.nextOffset))
	require.NoError(t, CloseTimestep(ctx, s, 1))
	require.NoError(t, s.SettleTimestep(ctx, 1, oneShard))
	b = begin(t, s, Labels)
	known, err := b.RepeatsLabel(lethe.LabelRecord{ID: "a", Timestep: 1, Label: lethe.Illicit})
	require.NoError(t, err)
	require.False(t, known)
}
