package diskroom_test

import (
	"io/fs"
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
