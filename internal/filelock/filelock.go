// Package filelock interprets the errors of Pebble's file locks, which it does not export.
package filelock

import (
	"errors"
	"io/fs"
	"syscall"
)

// heldHere is Pebble's text for a lock held by this process.
const heldHere = "lock held by current process"

// IsHeld reports whether Lock of a vfs.FS failed because this or another process holds the lock. Other errors are of
// the file system, such as one that has no locks or does not open the file.
func IsHeld(err error) bool {
	if err == nil {
		return false
	}
	_, unopened := errors.AsType[*fs.PathError](err)
	elsewhere := errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES)
	return elsewhere && !unopened || err.Error() == heldHere
}
