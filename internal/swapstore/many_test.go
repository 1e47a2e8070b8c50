package swapstore_test

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// Stores of earlier versions hold what was added to sums, in logs and in tables: it is added up, under whatever size
// the store is opened with.
func TestWhatWasAddedToASumIsAddedUp(t *testing.T) {
	sum := func(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	key, gone := []byte("sum"), []byte("sum that is deleted")
	fs := vfs.NewMem()
	for round, size := range []swapstore.Size{swapstore.Small(), swapstore.Busy()} {
		opened := func() *swapstore.Store {
			s, err := swapstore.OpenSized(fs, "store", swapstore.Format{}, size)
			require.NoError(t, err)
			return s
		}
		require.NoError(t, opened().Close())
		db, err := pebble.Open("store/g000001", &pebble.Options{FS: fs})
		require.NoError(t, err)
		for _, n := range []int32{3, -2} {
			require.NoError(t, db.Merge(key, sum(n), pebble.Sync))
			require.NoError(t, db.Merge(gone, sum(n), pebble.Sync))
		}
		require.NoError(t, db.Close())
		s := opened()
		require.Equal(t, string(sum(int32(round+1))), content(t, s)[string(key)])
		require.NoError(t, s.Apply(func(w swapstore.Writer) error { return swapstore.DeletePrefix(w, gone) }))
		require.NotContains(t, content(t, s), string(gone))
		require.NoError(t, s.Close())
	}
	s, err := swapstore.Open(fs, "store", swapstore.Format{})
	require.NoError(t, err)
	require.NoError(t, s.Rewrite(t.Context(), without()))
	require.Equal(t, map[string]string{string(key): string(sum(2))}, content(t, s))
	require.NoError(t, s.Close())
}
