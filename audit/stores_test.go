package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

// A disk that cannot be written is no reason to remove a store.
func TestADirectoryThatCannotBeWritten_NotToBeRemoved(t *testing.T) {
	for _, refused := range []syscall.Errno{syscall.EROFS, syscall.EACCES, syscall.ENOSPC} {
		err := fmt.Errorf("lock: %w", &fs.PathError{Op: "open", Path: "LOCK", Err: refused})
		err = opening(err, "data", configs.RoleGraphs)
		require.ErrorIs(t, err, refused)
		require.ErrorContains(t, err, "make data writable")
		require.NotContains(t, err.Error(), "remove")
	}
	require.ErrorContains(t, opening(errors.New("another secret"), "data", configs.RoleGraphs), "give the configuration")
}
