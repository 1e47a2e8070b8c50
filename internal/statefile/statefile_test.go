package statefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/statefile"
)

type document struct {
	Format string `json:"format"`
	Next   int    `json:"next"`
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	f := statefile.At(path, "document/1")
	var got document
	found, err := f.Read(&got)
	require.NoError(t, err)
	require.False(t, found)
	want := document{"document/1", 7}
	require.NoError(t, f.Write(want))
	found, err = statefile.At(path, "document/1").Read(&got)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, want, got)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())

	_, err = statefile.At(path, "document/2").Read(&got)
	require.ErrorContains(t, err, `format "document/1", want "document/2"`)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = f.Read(&got)
	require.ErrorContains(t, err, path)
}

// Files are replaced as a whole, so that one which was not written again is the same file.
func TestWhatHasNotChangedIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	f := statefile.At(path, "document/1")
	write := func(next int) os.FileInfo {
		require.NoError(t, f.Write(document{"document/1", next}))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info
	}
	first := write(1)
	require.True(t, os.SameFile(first, write(1)))
	require.False(t, os.SameFile(first, write(2)))
}
