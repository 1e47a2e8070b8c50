package swapstore

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var (
	// ErrCorrupt marks a directory that is not what Open or Rewrite left, such as
	// generations without a pointer or a table that was cut short. Nothing was changed. Restore the directory
	// from a copy, or remove it and rebuild its content.
	ErrCorrupt = errors.New("corrupt store directory")

	// ErrFormat marks a store whose content is of another format or version than
	// the program reads. Nothing was changed. Use the program that wrote it, or
	// remove the folder if its content can be rebuilt.
	ErrFormat = errors.New("store of another format")

	// ErrInUse marks a folder that another process has open. The caller should
	// stop that process or choose another folder.
	ErrInUse = errors.New("another process, such as lethe run, is using it: stop that first")

	// ErrClosed is returned by every use of a store after Close. It is a
	// programmer's error.
	ErrClosed = errors.New("store is closed")

	// ErrUncertain is returned when it cannot be known whether a switch of
	// generations reached the disk, and by every write from then on. Close the
	// store and open it again: it then has all of the old content or all of the
	// new.
	ErrUncertain = errors.New("the switch of generations may or may not have happened")

	// ErrLeftovers is returned by Rewrite when the new content is in place but
	// files of the old generation could not be removed. What was to be erased may
	// still be on disk: call Rewrite again, or open the store again.
	ErrLeftovers = errors.New("files of the old generation are left over")

	// ErrRewriting is returned by a rewriting that begins while another one is under way,
	// and by a part of one that is not due. It is a programmer's error.
	ErrRewriting = errors.New("a rewriting of the store is under way, or not as far as that")

	// ErrOrder is returned by the writer of Rewrite for a key that is not above
	// the one before it, and for a delete. Either would leave dead bytes in the
	// new generation. It is a programmer's error.
	ErrOrder = errors.New("a rewrite sets keys in ascending order, once each")
)

// damage marks what Pebble calls corruption as ErrCorrupt.
func damage(err error) error {
	if errors.Is(err, pebble.ErrCorruption) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// openingDamage is damage for an error of opening a generation that was there:
// Pebble gives no mark to a manifest or a table that was cut short, so that all is
// damage but a refusal by the file system, such as of permissions or space.
func openingDamage(err error) error {
	var refused syscall.Errno
	if errors.As(err, &refused) && refused != syscall.ENOENT {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// remediedFS is a file system that knows what to do about a damaged store on it.
type remediedFS struct {
	vfs.FS
	remedy string
}

// Remedied returns the file system as one whose stores tell a remedy when a file of
// theirs turns out to be damaged, since only their owner knows whether they can be
// rebuilt, and from what.
func Remedied(fs vfs.FS, remedy string) vfs.FS { return remediedFS{fs, remedy} }

// Unwrap implements vfs.FS.
func (f remediedFS) Unwrap() vfs.FS { return f.FS }

// remedyOf is the remedy for the stores of a file system.
func remedyOf(fs vfs.FS) string {
	for ; fs != nil; fs = fs.Unwrap() {
		if f, is := fs.(remediedFS); is {
			return f.remedy
		}
	}
	return "put the store's folder back from a copy"
}
