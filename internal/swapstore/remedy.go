package swapstore

import "github.com/cockroachdb/pebble/v2/vfs"

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
