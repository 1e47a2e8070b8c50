package diskroom_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/diskroom"
)

func TestRoomOfAFolder(t *testing.T) {
	dir := t.TempDir()
	room, err := diskroom.Of(dir)
	require.NoError(t, err)
	require.Positive(t, room.FreeBytes)
	require.GreaterOrEqual(t, room.TotalBytes, room.FreeBytes)
	_, err = diskroom.Of(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestPathsOfOneFileSystem(t *testing.T) {
	dir := t.TempDir()
	same, err := diskroom.Same(dir, filepath.Dir(dir))
	require.NoError(t, err)
	require.True(t, same)
	_, err = diskroom.Same(dir, filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("nothing is known to be mounted")
	}
	same, err = diskroom.Same("/proc", "/")
	require.NoError(t, err)
	require.False(t, same)
}
