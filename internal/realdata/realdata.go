// Package realdata finds the real data sets that tests compare with. They are not part of the
// repository: a test whose data is absent is skipped with a message.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder under LETHE_DATA, by default ../shared/data next to
// the repository. It skips the test if the path does not exist.
func Path(tb testing.TB, parts ...string) string {
	tb.Helper()
	path, found := Find(tb, parts...)
	if !found {
		tb.Skipf("no real data: there is no %s (set LETHE_DATA)", path)
	}
	return path
}

// Find is Path for tests with an alternative: it reports whether the path exists.
func Find(tb testing.TB, parts ...string) (path string, found bool) {
	tb.Helper()
	root := os.Getenv("LETHE_DATA")
	if root == "" {
		root = filepath.Join(Repository(tb), "..", "shared", "data")
	}
	path = filepath.Join(append([]string{root}, parts...)...)
	_, err := os.Stat(path)
	return path, err == nil
}

// Repository returns the folder of go.work above the test.
func Repository(tb testing.TB) string {
	tb.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(folder, "go.work")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			break
		}
		folder = parent
	}
	tb.Fatalf("no go.work above the test: %v", err)
	return ""
}
