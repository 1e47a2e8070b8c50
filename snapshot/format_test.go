package snapshot

import (
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
)

func readMark(t *testing.T, fs vfs.FS, folder string) string {
	t.Helper()
	f, err := fs.Open(fs.PathJoin("data", folder, "FORMAT"))
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(content)
}

func writeMark(t *testing.T, fs vfs.FS, folder, content string) {
	t.Helper()
	f, err := fs.Create(fs.PathJoin("data", folder, "FORMAT"), vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// twoTimesteps leaves the stores of two closed timesteps.
func twoTimesteps(t *testing.T) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	s := openMem(t, fs, 1)
	fill(t, s, 3)
	require.NoError(t, s.Close())
	return fs
}

// A store of a later format is refused when the stores are opened, in one line that
// names both formats, and is left as it is.
func TestStoresOfALaterFormatAreRefused(t *testing.T) {
	for folder, format := range map[string]swapstore.Format{
		StagingFolder: stagingFormat(), closed.FolderName(1): closed.Format(),
	} {
		fs := twoTimesteps(t)
		later := swapstore.Format{Kind: format.Kind, Version: format.Version + 1}
		writeMark(t, fs, folder, later.String()+"\n")
		_, err := Open("data", optionsOf(fs))
		require.ErrorIs(t, err, swapstore.ErrFormat)
		require.ErrorContains(t, err, `"`+later.String()+`", this program reads "`+format.String()+`"`)
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, later.String()+"\n", readMark(t, fs, folder))

		writeMark(t, fs, folder, format.String()+"\n")
		require.NoError(t, openMem(t, fs, 1).Close(), "a refusal changes nothing")
	}
}

// Staging whose own value names another version than its mark is refused too.
func TestStagingTellsItsVersionItself(t *testing.T) {
	fs := twoTimesteps(t)
	s := openMem(t, fs, 1)
	value, _, err := s.staging.Get([]byte{kindFormat})
	require.NoError(t, err)
	value[0] = stagingVersion + 1
	require.NoError(t, swapstore.Set(s.staging, []byte{kindFormat}, value))
	require.NoError(t, s.Close())

	_, err = Open("data", optionsOf(fs))
	require.ErrorIs(t, err, swapstore.ErrFormat)
	require.ErrorContains(t, err, "staging of version 2, this program reads 1")
	require.NotContains(t, err.Error(), "\n")
}
