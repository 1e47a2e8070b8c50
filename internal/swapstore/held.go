package swapstore

import (
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/internal/unlinked"
)

// held are open files that are about to be unlinked. They are then truncated, so that no data
// stays on disk while other processes hold them open.
type held []vfs.File

// hold opens a file that is about to be unlinked, if it exists.
func (h *held) hold(fs vfs.FS, path string) error {
	if _, err := fs.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	file, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("open what is to be unlinked: %w", err)
	}
	*h = append(*h, file)
	return nil
}

// holdAll opens all files below a folder.
func (h *held) holdAll(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return err
		case info.IsDir():
			err = h.holdAll(fs, path)
		default:
			err = h.hold(fs, path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// empty truncates and closes the unlinked files.
func (h *held) empty() error {
	var errs []error
	for _, file := range *h {
		if fd := file.Fd(); fd != vfs.InvalidFd {
			errs = append(errs, unlinked.Cut(fd))
		}
		errs = append(errs, file.Close())
	}
	*h = nil
	return errors.Join(errs...)
}

// Unlink removes a file, if it exists, and truncates it for processes that hold it open. That is durable once the
// folder is synced.
func Unlink(fs vfs.FS, path string) error {
	return Replace(fs, path, func() error {
		if err := fs.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Replace runs do, which replaces or removes the name of a file, and truncates the old file.
func Replace(fs vfs.FS, path string, do func() error) error {
	var old held
	err := old.hold(fs, path)
	if err == nil {
		err = do()
	}
	return errors.Join(err, old.empty())
}
