package swapstore

import (
	"bufio"
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// sparse is a file system without preallocation: Pebble would reserve the size of a memory table
// for every write-ahead log, megabytes for a store of kilobytes. Writes of tables are buffered.
type sparse struct{ vfs.FS }

// Create implements vfs.FS.
func (s sparse) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := asWritten(s.FS.Create(name, category))
	if err == nil && strings.HasSuffix(name, ".sst") {
		f = gather(f)
	}
	return f, err
}

// ReuseForWrite implements vfs.FS.
func (s sparse) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return asWritten(s.FS.ReuseForWrite(oldname, newname, category))
}

// OpenReadWrite implements vfs.FS.
func (s sparse) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return asWritten(s.FS.OpenReadWrite(name, category, opts...))
}

func asWritten(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unreserved{f}, nil
}

// unreserved is a file without preallocation.
type unreserved struct{ vfs.File }

// Preallocate implements vfs.File.
func (unreserved) Preallocate(offset, length int64) error { return nil }

// gatheredBytes is the buffer for writing tables. Without it, each block would start a write in the middle of a
// page, which makes the write about half as slow again.
const gatheredBytes = 128 << 10

func gather(file vfs.File) vfs.File { return gathered{file, bufio.NewWriterSize(file, gatheredBytes)} }

// gathered is a buffered file; Sync and Close flush the buffer.
type gathered struct {
	vfs.File
	next *bufio.Writer
}

// Write implements vfs.File.
func (g gathered) Write(p []byte) (int, error) { return g.next.Write(p) }

// Sync implements vfs.File.
func (g gathered) Sync() error { return errors.Join(g.next.Flush(), g.File.Sync()) }

// SyncData implements vfs.File.
func (g gathered) SyncData() error { return errors.Join(g.next.Flush(), g.File.SyncData()) }

// SyncTo implements vfs.File.
func (g gathered) SyncTo(length int64) (fullSync bool, err error) {
	if err := g.next.Flush(); err != nil {
		return false, err
	}
	return g.File.SyncTo(length)
}

// Close implements vfs.File.
func (g gathered) Close() error { return errors.Join(g.next.Flush(), g.File.Close()) }
