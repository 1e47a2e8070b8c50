// Package atomicfile writes files atomically and durably: the content is synced before the file
// gets its name, and the folder afterwards. renameio does everything except the last step.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sync/errgroup"
)

// Write atomically replaces the file at path. Missing folders are created, readable for all
// users.
func Write(path string, content []byte, mode fs.FileMode) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// writtenAtOnce is how many files WriteAll writes concurrently: each waits for the disk, which
// syncs several files about as fast as one.
const writtenAtOnce = 16

// WriteAll replaces files of one folder, given as contents by name, each atomically. After an
// error some may have been written. Missing folders are created.
func WriteAll(folder string, files map[string][]byte, mode fs.FileMode) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(writtenAtOnce)
	for name, content := range files {
		group.Go(func() error {
			return replace(filepath.Join(folder, name), mode, func(w io.Writer) error {
				_, err := w.Write(content)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return syncFolder(folder)
}

// WriteFrom replaces the file at path with the output of write. If write fails, the file stays
// unchanged. Missing folders are created.
func WriteFrom(path string, mode fs.FileMode, write func(io.Writer) error) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := replace(path, mode, write); err != nil {
		return err
	}
	return syncFolder(folder)
}

// replace is WriteFrom in an existing folder. The name is durable once the folder is synced.
func replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	file, err := pending(path, mode, write)
	if err != nil {
		return err
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return errors.Join(err, file.Cleanup())
	}
	return nil
}

// Create creates a file in an existing folder. If the file already exists, it stays unchanged and
// the error is fs.ErrExist: of two processes that create a file concurrently, one succeeds.
func Create(path string, content []byte, mode fs.FileMode) error {
	file, err := pending(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	// A rename would replace the other process's file; a link does not.
	err = file.Sync()
	if err == nil {
		err = os.Link(file.Name(), path)
	}
	if err = errors.Join(err, file.Cleanup()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// pending writes the content to a temporary file in the same folder.
func pending(path string, mode fs.FileMode, write func(io.Writer) error) (*renameio.PendingFile, error) {
	file, err := renameio.NewPendingFile(path,
		renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(mode))
	if err != nil {
		return nil, err
	}
	if err := write(file); err != nil {
		return nil, errors.Join(err, file.Cleanup())
	}
	return file, nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
