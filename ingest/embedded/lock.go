package embedded

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

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
	return lock, lockError(err)
}

// lockError returns ErrInUse for a lock that is held, and other errors of the file system, such as one without locks,
// as they are. Pebble's error for a lock of this process has no errno.
func lockError(err error) error {
	_, unopened := errors.AsType[*fs.PathError](err)
	errno, failed := errors.AsType[syscall.Errno](err)
	if err == nil || unopened || failed && errno != syscall.EAGAIN && errno != syscall.EACCES {
		return err
	}
	return ErrInUse
}
