package snapshot

import (
	"errors"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
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
	s := openMem(t, fs)
	fill(t, s, 3)
	require.NoError(t, s.Close())
	return fs
}

// A store of a later format is refused when it is opened, in one line that names both formats, and is left as it is.
func TestStoresOfALaterFormatAreRefused(t *testing.T) {
	fs := twoTimesteps(t)
	format := stagingFormat()
	later := swapstore.Format{Kind: format.Kind, Version: format.Version + 1}
	writeMark(t, fs, StagingFolder, later.String()+"\n")
	_, err := Open("data", optionsOf(fs))
	require.ErrorIs(t, err, swapstore.ErrFormat)
	require.ErrorContains(t, err, `"`+later.String()+`", this program reads "`+format.String()+`"`)
	require.NotContains(t, err.Error(), "\n")
	require.Equal(t, later.String()+"\n", readMark(t, fs, StagingFolder))

	writeMark(t, fs, StagingFolder, format.String()+"\n")
	require.NoError(t, openMem(t, fs).Close(), "a refusal changes nothing")
}

// So is the file of a closed timestep.
func TestAGraphOfALaterVersionIsRefused(t *testing.T) {
	fs := twoTimesteps(t)
	file, err := fs.OpenReadWrite("data/"+TimestepFiles(1)+"1.graph", vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	info, err := file.Stat()
	require.NoError(t, err)
	_, err = file.WriteAt([]byte{2}, info.Size()-5)
	require.NoError(t, errors.Join(err, file.Close()))
	_, err = Open("data", optionsOf(fs))
	require.ErrorIs(t, err, swapstore.ErrFormat)
	require.ErrorContains(t, err, "t000001.1.graph of version 2, this program reads 1")
}

// Staging whose own value names another version than its mark is refused too.
func TestStagingTellsItsVersionItself(t *testing.T) {
	fs := twoTimesteps(t)
	s := openMem(t, fs)
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
