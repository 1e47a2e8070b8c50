package swapstore

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"
)

// later is a file system that defers syncs: a new folder that is not read before it is complete is synced as a
// whole at the end. Creating a database syncs a dozen files and folders in turn, each waiting for the disk.
type later struct {
	vfs.FS
	// now disables the deferral.
	now atomic.Bool
}

// syncAll syncs a folder, everything in it, and its parent folder. From then on syncs take effect immediately.
func (l *later) syncAll(dir string) error {
	l.now.Store(true)
	var working errgroup.Group
	dirs, err := syncFiles(l.FS, dir, &working)
	err = errors.Join(err, working.Wait())
	// In a fixed order, so that the sequence on disk is deterministic.
	for _, at := range append(dirs, l.PathDir(dir)) {
		if err == nil {
			err = SyncDir(l.FS, at)
		}
	}
	if err != nil {
		return fmt.Errorf("sync what was made: %w", err)
	}
	return nil
}

// syncFiles starts to sync the files below a folder concurrently, because the disk combines concurrent syncs. It
// returns the folders, nested ones first.
func syncFiles(fs vfs.FS, dir string, working *errgroup.Group) (dirs []string, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			within, err := syncFiles(fs, path, working)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, within...)
			continue
		}
		working.Go(func() error {
			file, err := fs.Open(path)
			if err != nil {
				return err
			}
			return errors.Join(file.Sync(), file.Close())
		})
	}
	return append(dirs, dir), nil
}

// Create implements vfs.FS.
func (l *later) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return l.file(l.FS.Create(name, category))
}

// OpenReadWrite implements vfs.FS.
func (l *later) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return l.file(l.FS.OpenReadWrite(name, category, opts...))
}

// ReuseForWrite implements vfs.FS.
func (l *later) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return l.file(l.FS.ReuseForWrite(oldname, newname, category))
}

// OpenDir implements vfs.FS.
func (l *later) OpenDir(name string) (vfs.File, error) { return l.file(l.FS.OpenDir(name)) }

// Unwrap implements vfs.FS.
func (l *later) Unwrap() vfs.FS { return l.FS }

func (l *later) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return laterFile{f, l}, nil
}

type laterFile struct {
	vfs.File
	fs *later
}

// Sync implements vfs.File.
func (f laterFile) Sync() error {
	if !f.fs.now.Load() {
		return nil
	}
	return f.File.Sync()
}

// SyncData implements vfs.File.
func (f laterFile) SyncData() error {
	if !f.fs.now.Load() {
		return nil
	}
	return f.File.SyncData()
}

// SyncTo implements vfs.File.
func (f laterFile) SyncTo(length int64) (fullSync bool, err error) {
	if !f.fs.now.Load() {
		return false, nil
	}
	return f.File.SyncTo(length)
}
