package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lethe/internal/realdata"

	"github.com/stretchr/testify/require"
)

// Each decodes a file of every folder of reference vectors and passes it to run as a subtest.
// "own" is testdata/golden, which lab/reference generates and every clone has. "other" is the
// folder of LETHE_GOLDEN, by default ../shared/golden next to the repository; it is skipped if
// absent.
func Each[T any](t *testing.T, name string, run func(t *testing.T, file T)) {
	t.Helper()
	own := filepath.Join(realdata.Repository(t), "testdata", "golden")
	other := os.Getenv("LETHE_GOLDEN")
	if other == "" {
		other = filepath.Join(realdata.Repository(t), "..", "shared", "golden")
	}
	t.Run("own", func(t *testing.T) { run(t, decode[T](t, filepath.Join(own, name))) })
	t.Run("other", func(t *testing.T) {
		path := filepath.Join(other, name)
		if _, err := os.Stat(path); os.IsNotExist(err) {
			t.Skipf("no further reference vectors: %s is not in the folder of LETHE_GOLDEN", name)
		}
		run(t, decode[T](t, path))
	})
}

func decode[T any](t *testing.T, path string) T {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var file T
	require.NoError(t, json.Unmarshal(raw, &file))
	return file
}
