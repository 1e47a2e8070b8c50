package main

import (
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// writtenFS counts the bytes that are written to the files of a file system, and how long
// writers waited until they were durable.
type writtenFS struct {
	vfs.FS
	written, waited atomic.Int64
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
	return writtenFile{f, s}, nil
}

type writtenFile struct {
	vfs.File
	fs *writtenFS
}

// Write implements vfs.File.
func (f writtenFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.fs.written.Add(int64(n))
	return n, err
}

// WriteAt implements vfs.File.
func (f writtenFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.fs.written.Add(int64(n))
	return n, err
}

// Sync implements vfs.File.
func (f writtenFile) Sync() error {
	defer f.wait(time.Now())
	return f.File.Sync()
}

// SyncData implements vfs.File.
func (f writtenFile) SyncData() error {
	defer f.wait(time.Now())
	return f.File.SyncData()
}

func (f writtenFile) wait(began time.Time) { f.fs.waited.Add(int64(time.Since(began))) }
