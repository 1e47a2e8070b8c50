package snapshot

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/stored"
)

// The same search finds what is left when keys are deleted instead of stores
// being rewritten, although no read finds it any more.
func TestDeletingInsteadOfRewritingLeavesBytes(t *testing.T) {
	dir := t.TempDir()
	s, subjects := scanStore(t, dir, vfs.Default, 300)
	located, err := s.Locate(lethe.Transactions(subjects...))
	require.NoError(t, err)
	gone := (stored.Erasure{Removal: RemovalOf(located)})
	stores := map[string]*swapstore.Store{StagingFolder: s.staging.Store}
	for step := lethe.Timestep(1); step <= 2; step++ {
		store, err := s.closed.Get(step)
		require.NoError(t, err)
		stores[closed.FolderName(step)] = store.Store
	}
	for name, store := range stores {
		require.NoError(t, store.Apply(func(w swapstore.Writer) error {
			return store.Scan(nil, func(key, value []byte) error {
				drop, err := gone.IsIn(key, 1)
				if name == StagingFolder {
					drop, err = dropFromStaging(gone, key, value)
				}
				if err != nil || !drop {
					return err
				}
				w.Delete(key)
				return nil
			})
		}))
	}
	located, err = s.Locate(lethe.Transactions(subjects...))
	require.NoError(t, err)
	for _, l := range located {
		require.False(t, l.Known, "no read may find it")
	}
	wanted := needles(s, subjects)
	require.NoError(t, s.Close())
	hits, _ := search(t, vfs.Default, dir, wanted)
	all := strings.Join(hits, "\n")
	for _, place := range []string{StagingFolder, closed.FolderName(1), closed.FolderName(2)} {
		require.Contains(t, all, place)
	}
	for _, what := range []string{"id ", "pseudonym of", "row 1", "row 2", "row 3"} {
		require.Contains(t, all, what)
	}
}
