package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lethe/internal/unlinked"
)

// While a compaction runs, the directory "rescue" holds hard links to every file of the log. It is
// created and removed by renaming, so it is complete whenever it exists; if it exists at start, a
// compaction was interrupted. Links share their data with the files: creating them copies nothing,
// and the data is freed once both are removed.
const (
	rescueName   = "rescue"
	rescueMaking = "rescue.making"
	rescueSpent  = "rescue.spent"
)

func partitionsDir(dir string) string { return filepath.Join(logDir(dir), "partitions") }

// secure creates rescue with a link to every file of the log.
func secure(dir string) error {
	making := filepath.Join(dir, rescueMaking)
	if err := os.RemoveAll(making); err != nil {
		return err
	}
	if err := os.Mkdir(making, 0o700); err != nil {
		return err
	}
	if err := linkTree(partitionsDir(dir), making); err != nil {
		return err
	}
	return os.Rename(making, filepath.Join(dir, rescueName))
}

// discard removes rescue; with the last link to a file its data is freed.
func discard(dir string) error {
	spent := filepath.Join(dir, rescueSpent)
	if err := os.Rename(filepath.Join(dir, rescueName), spent); err != nil {
		return err
	}
	// Truncate the segments, because another program, such as a backup, may hold them open.
	held, err := openAll(spent)
	err = errors.Join(err, os.RemoveAll(spent))
	for _, file := range held {
		err = errors.Join(err, unlinked.Cut(file.Fd()), file.Close())
	}
	return err
}

// openAll opens all files below a folder.
func openAll(dir string) (files []*os.File, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// restore restores the log if a compaction was interrupted, and cleans up. It can itself be
// interrupted and run again.
func restore(dir string) error {
	err := errors.Join(
		os.RemoveAll(filepath.Join(dir, rescueMaking)),
		os.RemoveAll(filepath.Join(dir, rescueSpent)))
	if err != nil {
		return err
	}
	rescue := filepath.Join(dir, rescueName)
	if _, err := os.Stat(rescue); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(partitionsDir(dir)); err != nil {
		return err
	}
	if err := linkTree(rescue, partitionsDir(dir)); err != nil {
		return err
	}
	return discard(dir)
}

// linkTree creates the directories of from under to and links the files, except those that were
// being written when a process ended.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && path == from {
				return os.MkdirAll(to, 0o700) // no file has been written yet
			}
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return fmt.Errorf("walk %s: %w", from, err)
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case strings.HasSuffix(path, ".tmp"):
			return nil
		default:
			return os.Link(path, target)
		}
	})
}
