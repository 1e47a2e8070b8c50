package snapshot

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
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
	require.NoError(t, (transition{s, s.staging.change()}).eraseStaged(gone))
	located, err = s.Locate(lethe.Transactions(subjects...))
	require.NoError(t, err)
	for _, l := range located {
		require.False(t, l.Known, "no read may find it")
	}
	wanted := needles(s, subjects)
	require.NoError(t, s.Close())
	hits, _ := search(t, vfs.Default, dir, wanted)
	all := strings.Join(hits, "\n")
	for _, place := range []string{StagingFolder, TimestepFiles(1), TimestepFiles(2)} {
		require.Contains(t, all, place)
	}
	for _, what := range []string{"id ", "pseudonym of", "row 1", "row 2", "row 3"} {
		require.Contains(t, all, what)
	}
}
