package swapstore

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	// ErrCorrupt marks a directory that Open or Rewrite cannot have left, such as generations without a pointer or a
	// truncated table. Nothing was changed. Restore the directory from a copy, or remove it and rebuild its content.
	ErrCorrupt = errors.New("corrupt store directory")

	// ErrFormat marks a store whose format or version this program does not read. Nothing was
	// changed. Use the program that wrote it, or remove the folder if its content can be rebuilt.
	ErrFormat = errors.New("store of another format")

	// ErrInUse marks a folder that another process has open. The caller should
	// stop that process or choose another folder.
	ErrInUse = errors.New("another process, such as lethe run, is using it: stop that first")

	// ErrClosed is returned by every use of a store after Close. It is a programming error.
	ErrClosed = errors.New("store is closed")

	// ErrUncertain is returned when it is unknown whether a switch of generations reached the disk,
	// and by every write after that. Close and reopen the store: it then has all of the old content
	// or all of the new.
	ErrUncertain = errors.New("the switch of generations may or may not have happened")

	// ErrLeftovers is returned by Rewrite when the new content is in place but files of the old
	// generation could not be removed. Erased bytes may still be on disk: call Rewrite again, or
	// reopen the store.
	ErrLeftovers = errors.New("files of the old generation are left over")

	// ErrRewriting is returned when a rewriting begins while another one is in progress, and when
	// its methods are called out of order. It is a programming error.
	ErrRewriting = errors.New("a rewriting of the store is under way, or not as far as that")

	// ErrOrder is returned by the writer of Rewrite for a key that is not above the previous one,
	// and for a delete. Either would leave dead bytes in the new generation. It is a programming
	// error.
	ErrOrder = errors.New("a rewrite sets keys in ascending order, once each")
)

// damage marks Pebble's corruption errors as ErrCorrupt.
func damage(err error) error {
	if errors.Is(err, pebble.ErrCorruption) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// openingDamage is damage for opening an existing generation. Pebble does not mark a truncated
// manifest or table, so every error counts as damage, except those of the operating system such
// as missing permissions or space.
func openingDamage(err error) error {
	var refused syscall.Errno
	if errors.As(err, &refused) && refused != syscall.ENOENT {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// remediedFS is a file system with a remedy for damaged stores on it.
type remediedFS struct {
	vfs.FS
	remedy string
}

// Remedied returns a file system whose stores report this remedy when one of their files is damaged. Only the owner
// knows whether a store can be rebuilt, and from which source.
func Remedied(fs vfs.FS, remedy string) vfs.FS { return remediedFS{fs, remedy} }

// Unwrap implements vfs.FS.
func (f remediedFS) Unwrap() vfs.FS { return f.FS }

// remedyOf returns the remedy for stores on a file system.
func remedyOf(fs vfs.FS) string {
	for ; fs != nil; fs = fs.Unwrap() {
		if f, is := fs.(remediedFS); is {
			return f.remedy
		}
	}
	return "put the store's folder back from a copy"
}
