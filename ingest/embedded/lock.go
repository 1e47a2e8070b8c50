package embedded

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrInUse marks a directory that another broker is using. The caller should stop the other
// process or choose another directory.
var ErrInUse = errors.New("directory is in use by another broker")

// lockDir locks a directory against brokers until the lock is closed, which must happen once. The system
// closes it when the process ends. Processes that this one starts have no part in it, unlike that of
// flock(2), which lasts while any of them has a copy of the open file. Errors: ErrInUse.
func lockDir(dir string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(filepath.Join(dir, "lock"))
	if _, unopened := errors.AsType[*fs.PathError](err); err != nil && !unopened {
		err = ErrInUse
	}
	return lock, err
}
