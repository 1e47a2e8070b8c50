package swapstore

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"
)

// later is a file system for a folder that nobody looks at before it is there whole: nothing in it is synchronised
// until all of it is, at once. Making a database synchronises a dozen files and folders one after the other, each of
// which waits for the disk.
type later struct {
	vfs.FS
	// now says that files are synchronised as they ask for it.
	now atomic.Bool
}

// syncAll synchronises a folder with all that it holds, and the folder that it is in, and has whatever is done from
// then on synchronised as it is asked for.
func (l *later) syncAll(dir string) error {
	l.now.Store(true)
	var working errgroup.Group
	dirs, err := syncFiles(l.FS, dir, &working)
	err = errors.Join(err, working.Wait())
	// One after the other, so that the disk sees the same in the same order every time.
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

// syncFiles begins to synchronise the files of a folder and of those in it, in no order: the disk does together what
// comes together. It returns the folders, those within others first.
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
