package main

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// writtenFS counts the bytes that are written to the files of a file system.
type writtenFS struct {
	vfs.FS
	written atomic.Int64
}

// Create implements vfs.FS.
func (s *writtenFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.counted(s.FS.Create(name, category))
}

// ReuseForWrite implements vfs.FS.
func (s *writtenFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return s.counted(s.FS.ReuseForWrite(oldname, newname, category))
}

// OpenReadWrite implements vfs.FS.
func (s *writtenFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return s.counted(s.FS.OpenReadWrite(name, category, opts...))
}

func (s *writtenFS) counted(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return writtenFile{f, &s.written}, nil
}

type writtenFile struct {
	vfs.File
	written *atomic.Int64
}

// Write implements vfs.File.
func (f writtenFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written.Add(int64(n))
	return n, err
}

// WriteAt implements vfs.File.
func (f writtenFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.written.Add(int64(n))
	return n, err
}
