package swapstore

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// generations lists the generations in a store's folder, ascending.
func generations(fs vfs.FS, dir string) ([]uint64, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list generations: %w", err)
	}
	var out []uint64
	for _, name := range names {
		if number, ok := parseGeneration(fs.PathBase(name)); ok {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out, nil
}

// sweep removes every generation except keep, and partially written files, and verifies that they
// are gone.
func sweep(fs vfs.FS, dir string, keep uint64) error {
	for _, name := range []string{pointerTempName, formatTempName} {
		if err := fs.Remove(fs.PathJoin(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove half-written %s: %w", name, err)
		}
	}
	found, err := generations(fs, dir)
	if err != nil {
		return err
	}
	for _, number := range found {
		if number == keep {
			continue
		}
		if err := Remove(fs, fs.PathJoin(dir, generationName(number))); err != nil {
			return fmt.Errorf("generation %d: %w", number, err)
		}
	}
	return nil
}

// Remove durably unlinks a folder with everything in it and verifies that it is gone. It also truncates the files,
// for processes that hold them open. A missing folder is no error. No store may be open in it.
func Remove(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var files held
	err := files.holdAll(fs, dir)
	if err == nil {
		err = fs.RemoveAll(dir)
	}
	if err = errors.Join(err, files.empty()); err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	if err := SyncDir(fs, fs.PathDir(dir)); err != nil {
		return err
	}
	if _, err := fs.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removed folder %s is still there: %w", fs.PathBase(dir), errors.Join(err, ErrLeftovers))
	}
	return nil
}
