package scan_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
)

// What is left out is not read, and what is kept is read whole.
func TestAPartOfAFolderIsSearched(t *testing.T) {
	holds := &fstest.MapFile{Data: []byte("transaction-1")}
	all := fstest.MapFS{"a/1": holds, "a/2": holds, "b/1": holds, "c": holds}
	report, err := idScanner(t, "transaction-1").ScanDir(t.Context(), scan.Some(all, func(path string) bool {
		return path == "a" || strings.HasPrefix(path, "a/") && path != "a/2" || path == "c"
	}))
	require.NoError(t, err)
	require.Equal(t, 2, report.Files)
	require.Len(t, report.Hits, 2)
}
