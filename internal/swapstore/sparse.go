package swapstore

import "github.com/cockroachdb/pebble/v2/vfs"

// sparse is a file system on which files take no more room than what is written
// to them: Pebble would reserve a whole memory table for every write-ahead log,
// megabytes for a store of kilobytes.
type sparse struct{ vfs.FS }

// Create implements vfs.FS.
func (s sparse) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return asWritten(s.FS.Create(name, category))
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

// unreserved is a file for which no room is reserved.
type unreserved struct{ vfs.File }

// Preallocate implements vfs.File.
func (unreserved) Preallocate(offset, length int64) error { return nil }
