package openrows

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

// folder manages the files of rows.
type folder struct {
	fs  vfs.FS
	dir string

	mu sync.Mutex
	// next is the number of the next file.
	next number
	// dropped are files that the store no longer names, although that may not be durable yet; for removable files it
	// is durable.
	dropped, removable []number
}

// openFolder opens a folder, creating it if absent, and removes the files that are not named. A named file that is
// missing is an error.
func openFolder(fs vfs.FS, dir string, named map[number]bool) (*folder, error) {
	f := &folder{fs: fs, dir: dir}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder of rows: %w", err)
	}
	// A process may have crashed after creating the folder and before syncing its parent.
	if err := swapstore.SyncDir(fs, fs.PathDir(dir)); err != nil {
		return nil, err
	}
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list files of rows: %w", err)
	}
	missing := len(named)
	for _, name := range names {
		n, err := strconv.ParseUint(fs.PathBase(name), 10, 64)
		switch {
		case err != nil || f.path(number(n)) != fs.PathJoin(dir, fs.PathBase(name)):
			continue // not ours
		case named[number(n)]:
			missing--
		default:
			f.removable = append(f.removable, number(n))
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%w: %d files of rows are not there (put the folder back from a copy)",
			swapstore.ErrCorrupt, missing)
	}
	for n := range named {
		f.next = max(f.next, n+1)
	}
	return f, errors.Join(f.remove(), swapstore.SyncDir(fs, dir))
}

func (f *folder) path(n number) string { return f.fs.PathJoin(f.dir, fmt.Sprintf("%06d", n)) }

// open opens a file that the store names.
func (f *folder) open(d description) (*reader, error) {
	file, err := f.file(d)
	if err != nil {
		return nil, err
	}
	return newReader(file, d)
}

func (f *folder) file(d description) (vfs.File, error) {
	file, err := f.fs.Open(f.path(d.number))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: file %d is not there", swapstore.ErrCorrupt, d.number)
	}
	if err != nil {
		return nil, fmt.Errorf("open file %d of rows: %w", d.number, err)
	}
	return file, nil
}

// find finds a row in a file.
func (f *folder) find(d description, p lethe.Pseudonym) (row []byte, found bool, err error) {
	file, err := f.file(d)
	if err != nil {
		return nil, false, err
	}
	row, found, err = finder{d, file}.find(p)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, false, fmt.Errorf("file %d of rows: %w", d.number, err)
	}
	return row, found, nil
}

// reserve returns the number for a new file.
func (f *folder) reserve() number {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.next - 1
}

// drop records files that the store no longer names once its last change is durable.
func (f *folder) drop(list []number) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropped = append(f.dropped, list...)
}

// takeDropped takes the dropped files off the list; the caller must drop them again if the sync
// fails.
func (f *folder) takeDropped() []number {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.dropped
	f.dropped = nil
	return list
}

// release makes files removable: it is durable that the store does not name them.
func (f *folder) release(list []number) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removable = append(f.removable, list...)
}

// remove unlinks the removable files, and empties them for processes that hold them open. Failures are retried by
// the next call.
func (f *folder) remove() error {
	f.mu.Lock()
	list := f.removable
	f.removable = nil
	f.mu.Unlock()
	var errs []error
	for _, n := range list {
		if err := swapstore.Unlink(f.fs, f.path(n)); err != nil {
			errs = append(errs, err)
			f.release([]number{n})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove files of rows: %w", err)
	}
	return nil
}
