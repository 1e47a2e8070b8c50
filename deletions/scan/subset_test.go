package scan_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// What is left out is not read, and what is kept is read whole.
func TestAPartOfAFolderIsSearched(t *testing.T) {
	secret := lethe.Secret{1}
	prints, err := scan.IDFingerprints(secret, "transaction-1")
	require.NoError(t, err)
	sc, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	holds := &fstest.MapFile{Data: []byte("transaction-1")}
	all := fstest.MapFS{"a/1": holds, "a/2": holds, "b/1": holds, "c": holds}
	report, err := sc.ScanDir(t.Context(), scan.Some(all, func(path string) bool {
		return path == "a" || strings.HasPrefix(path, "a/") && path != "a/2" || path == "c"
	}))
	require.NoError(t, err)
	require.Equal(t, 2, report.Files)
	require.Len(t, report.Hits, 2)
}
