package filelock_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/filelock"
)

// A file system without locks is not taken for a lock that is held.
func TestIsHeld_OtherErrors_AreNot(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, syscall.EAGAIN: true, syscall.EACCES: true, syscall.ENOLCK: false, syscall.EOPNOTSUPP: false,
	} {
		require.Equal(t, want, filelock.IsHeld(err), "%v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	lock, err := vfs.Default.Lock(path)
	require.NoError(t, err)
	_, err = vfs.Default.Lock(path)
	require.True(t, filelock.IsHeld(err))
	require.NoError(t, lock.Close())
	_, err = vfs.Default.Lock(dir)
	require.Error(t, err)
	require.False(t, filelock.IsHeld(err))
}
