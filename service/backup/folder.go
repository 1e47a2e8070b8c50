package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/configs"
	"lethe/internal/filelock"
	"lethe/service"
)

const (
	keysFolder   = "keys/"
	ledgerFolder = configs.RoleBuild + "/ledger/"
)

// isLock reports whether a file exists only as a lock.
func isLock(path string) bool {
	base := filepath.Base(path)
	return base == "LOCK" || base == "lock"
}

// contents lists the files of a data directory that belong in a backup, ascending, with slashes.
func contents(dir string, whole bool) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		small := strings.HasPrefix(rel, keysFolder) || strings.HasPrefix(rel, "receipts/") || !strings.Contains(rel, "/")
		if !isLock(rel) && rel != service.RestoringName && (whole || small) {
			paths = append(paths, rel)
		}
		return nil
	})
	slices.Sort(paths)
	return paths, err
}

// Locks lock the stores of a data directory against other processes.
type Locks []io.Closer

// Lock locks every store and the embedded broker. No process writes while the locks are held.
func Lock(dir string) (held Locks, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isLock(path) {
			return err
		}
		one, err := vfs.Default.Lock(path)
		if err != nil {
			if filelock.IsHeld(err) {
				err = errors.New("another process uses it: stop lethe run on it first")
			}
			return fmt.Errorf("data directory %s: %w", dir, err)
		}
		held = append(held, one)
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// Close releases the locks.
func (l Locks) Close() error {
	var errs []error
	for _, one := range l {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// isEmpty returns an error for a directory that is not empty.
func isEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %s cannot be used: %w (name a new folder with --data-dir)", ErrRefused, dir, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s is not empty: a backup is put back into a new folder (name one with --data-dir)",
			ErrRefused, dir)
	}
	return nil
}

// CopyFolder copies the files of a directory, whose locks must be held.
func CopyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if isLock(path) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(target, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, info.Mode().Perm())
		if err != nil {
			return err
		}
		_, err = file.Write(data)
		return errors.Join(err, file.Sync(), file.Close())
	})
}

// SyncFolders makes the entries of a directory and its subdirectories durable.
func SyncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		folder, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(folder.Sync(), folder.Close())
	})
}
