//go:build unix && !solaris && !aix

package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// dirLock locks a directory against a second broker, of this or another process. The system
// releases the lock when the process ends.
type dirLock struct{ file *os.File }

func lockDir(dir string) (*dirLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(err, file.Close())
	}
	return &dirLock{file}, nil
}

func (l *dirLock) release() error { return l.file.Close() }
