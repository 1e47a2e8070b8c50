package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/atomicfile"
)

func TestReadKeepsWithinItsBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("12345"), 0o600))
	got, err := atomicfile.Read(path, 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(got))
	_, err = atomicfile.Read(path, 4)
	require.ErrorIs(t, err, atomicfile.ErrTooLarge)
	// A hole takes no room on the disk, and would in memory.
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err = atomicfile.Read(path, 1<<20)
	require.ErrorIs(t, err, atomicfile.ErrTooLarge)
	_, err = atomicfile.Read("/dev/zero", 1<<20)
	require.ErrorIs(t, err, atomicfile.ErrTooLarge)
	_, err = atomicfile.Read(filepath.Join(t.TempDir(), "none"), 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
