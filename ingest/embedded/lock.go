package embedded

import (
	"errors"
	"io"
	"path/filepath"

	"lethe/internal/filelock"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrInUse marks a directory that another process is using. The caller should stop that
// process or choose another directory.
var ErrInUse = errors.New("directory is in use by another process")

// LockDir locks a directory against other processes until the lock is closed, which must happen once. The system
// closes it when the process ends. Processes that this one starts have no part in it, unlike that of
// flock(2), which lasts while any of them has a copy of the open file. Errors: ErrInUse.
func LockDir(dir string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(filepath.Join(dir, "lock"))
	if filelock.IsHeld(err) {
		err = ErrInUse
	}
	return lock, err
}
