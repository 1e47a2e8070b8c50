package importrules

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

// Every package has a row, every row that names Go code has a package, and
// nothing is imported that the table does not allow.
func TestImportsAreThoseOfTheTable(t *testing.T) {
	tb := readTable(t)
	for folder, imports := range tb.imports {
		i := tb.rowOf(folder)
		require.NotEqual(t, -1, i, "%s is in no row of the table of docs/packages.md", folder)
		allowed, err := tb.allowed(i)
		require.NoError(t, err)
		for _, p := range imports {
			require.Contains(t, allowed, p, "%s imports %s, which the table of docs/packages.md does not allow", folder, p)
		}
	}
	root := realdata.Repository(t)
	for _, r := range tb.rows {
		for _, folder := range r.folders {
			require.DirExists(t, filepath.Join(root, folder), "the package table has a folder that is not there")
		}
	}
}

// The numeric core is pure, and the search for what an erasure left shares nothing with what it searches for.
func TestNothingImportsWhatItIsKeptFrom(t *testing.T) {
	root := realdata.Repository(t)
	for _, rule := range []struct {
		folders []string
		not     []string
		tests   bool // are held to it as well
	}{
		{
			[]string{"partition", "trainer", "scoring", "dataset", "canonical"},
			[]string{"github.com/segmentio/kafka-go", "github.com/cockroachdb/pebble", "github.com/prometheus", "log"},
			true,
		},
		{[]string{"partition", "trainer", "scoring", "canonical"}, []string{"time"}, false},
		{
			[]string{"internal/residue"},
			[]string{
				"lethe/deletions", "lethe/canonical", "lethe/snapshot", "lethe/internal/swapstore",
				"github.com/cockroachdb/pebble",
			},
			true,
		},
	} {
		for _, folder := range rule.folders {
			files := 0
			for file, imports := range importsBelow(t, filepath.Join(root, folder)) {
				if !rule.tests && strings.HasSuffix(file, "_test.go") {
					continue
				}
				files++
				for _, imported := range imports {
					for _, not := range rule.not {
						require.False(t, within(imported, not), "%s imports %s, which %s must not", file, imported, folder)
					}
				}
			}
			require.NotZero(t, files, "%s has no Go files", folder)
		}
	}
}

// importsBelow are the imports of the Go files of a folder and of those below it.
func importsBelow(t *testing.T, folder string) map[string][]string {
	t.Helper()
	out := make(map[string][]string)
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		out[path] = importsOf(t, path)
		return nil
	}))
	return out
}
