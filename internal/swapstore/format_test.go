package swapstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

func openAs(dir, kind string, version int) error {
	s, err := swapstore.Open(vfs.Default, dir, swapstore.Format{Kind: kind, Version: version})
	if err != nil {
		return err
	}
	return s.Close()
}

// A store is opened as what it was written as, and refused otherwise with both
// formats in one line.
func TestAStoreOfAnotherFormatIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, openAs(dir, "train-shard", 1))
	require.NoError(t, openAs(dir, "train-shard", 1))

	err := openAs(dir, "train-shard", 2)
	require.ErrorIs(t, err, swapstore.ErrFormat)
	require.ErrorContains(t, err, `"train-shard/1", this program reads "train-shard/2"`)
	require.NotContains(t, err.Error(), "\n")
	require.ErrorIs(t, openAs(dir, "score-state", 1), swapstore.ErrCorrupt, "no version of it wrote that")
	require.NoError(t, openAs(dir, "train-shard", 1), "a refusal changes nothing")
}

// A store that has lost its format is refused.
func TestAStoreWithoutAFormatIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, openAs(dir, "ledger", 1))
	require.NoError(t, os.Remove(filepath.Join(dir, "FORMAT")))
	require.ErrorIs(t, openAs(dir, "ledger", 1), swapstore.ErrCorrupt)
}

// W144: a format cut short, or anything else in its place, is damage: no other version of the program reads it.
func TestADamagedFormatIsRefused(t *testing.T) {
	for _, content := range []string{"", "led", "ledger/1\n\n", "ledger/01\n", "ledgeq/1\n", "ledger/\n"} {
		dir := filepath.Join(t.TempDir(), "store")
		require.NoError(t, openAs(dir, "ledger", 1))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "FORMAT"), []byte(content), 0o600))
		require.ErrorIs(t, openAs(dir, "ledger", 1), swapstore.ErrCorrupt, "%q", content)
	}
}
