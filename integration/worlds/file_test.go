package worlds

import (
	"errors"
	"io"
	"path"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// watched returns what Create and OpenDir return, with its writes counted.
func (d *disk) watched(name string) func(f vfs.File, err error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		return &file{File: f, name: name, disk: d}, nil
	}
}

// file is a file whose writes are counted.
type file struct {
	vfs.File
	name string
	disk *disk
	// size is how much of it was written, and durable how much of that was synced.
	size, durable int
}

// Write implements vfs.File.
func (f *file) Write(data []byte) (int, error) {
	f.disk.note("write ", f.name)
	n, err := f.File.Write(data)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.size += n
	return n, err
}

// Sync implements vfs.File.
func (f *file) Sync() error { return f.synced(f.File.Sync) }

// SyncData implements vfs.File.
func (f *file) SyncData() error { return f.synced(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *file) SyncTo(length int64) (full bool, err error) {
	err = f.synced(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

func (f *file) synced(sync func() error) error {
	f.disk.mu.Lock()
	switch {
	case isGeneration(f.name):
		// Pebble syncs its folder after every table that it writes.
	case !inGeneration(f.name):
		f.disk.write("sync "+f.name, f)
	case path.Ext(f.name) == ".log":
		// Its number depends on when Pebble writes its tables.
		f.disk.write("sync the log in "+path.Dir(f.name), f)
	}
	size := f.size
	f.disk.mu.Unlock()
	err := sync()
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.durable = size
	return err
}

// tear leaves in another file system half of what was not synced.
func (f *file) tear(other *vfs.MemFS) error {
	whole, err := other.Open(f.name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(whole)
	if err = errors.Join(err, whole.Close()); err != nil {
		return err
	}
	data = data[:min(len(data), (f.durable+f.size)/2)]
	torn, err := other.Create(f.name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = torn.Write(data)
	return errors.Join(err, torn.Sync(), torn.Close())
}
