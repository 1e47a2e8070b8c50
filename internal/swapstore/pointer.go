package swapstore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	pointerName     = "CURRENT-GEN"
	pointerTempName = "CURRENT-GEN.tmp"
	lockName        = "LOCK"
	generationMark  = "g"
)

// generationName is the name of a generation's folder.
func generationName(number uint64) string { return fmt.Sprintf("%s%06d", generationMark, number) }

// parseGeneration parses a name that generationName returned, and rejects any other.
func parseGeneration(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, generationMark)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && generationName(number) == name
}

// readPointer returns the generation that the pointer file names.
func readPointer(fs vfs.FS, dir string) (number uint64, found bool, err error) {
	content, found, err := readWhole(fs, dir, pointerName)
	if err != nil || !found {
		return 0, false, err
	}
	name, ended := strings.CutSuffix(content, "\n")
	number, ok := parseGeneration(name)
	if !ended || !ok {
		return 0, false, fmt.Errorf("%w: pointer file of %d bytes names no generation", ErrCorrupt, len(content))
	}
	return number, true, nil
}

// writePointer replaces the pointer file atomically. After an error the old pointer is in place
// or, if the switch was begun, either one.
func writePointer(fs vfs.FS, dir string, number uint64) (begun bool, err error) {
	return writeWhole(fs, dir, pointerName, pointerTempName, generationName(number)+"\n")
}

// readWhole reads a small file of the store's folder, if it exists.
func readWhole(fs vfs.FS, dir, name string) (content string, found bool, err error) {
	f, err := fs.Open(fs.PathJoin(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("open %s: %w", name, err)
	}
	read, err := io.ReadAll(io.LimitReader(f, 256))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	return string(read), true, nil
}

// writeWhole replaces a small file of the store's folder atomically.
func writeWhole(fs vfs.FS, dir, name, tempName, content string) (begun bool, err error) {
	temp := fs.PathJoin(dir, tempName)
	err = WriteFile(fs, temp, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	if err := fs.Rename(temp, fs.PathJoin(dir, name)); err != nil {
		return true, fmt.Errorf("switch %s: %w", name, err)
	}
	return true, SyncDir(fs, dir)
}

// WriteFile creates or truncates a file, and has fill write its content, which is durable when WriteFile returns nil.
// Its name is durable once the folder is synced.
func WriteFile(fs vfs.FS, path string, fill func(io.Writer) error) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Castagnoli is the polynomial of the checksums of files beside the databases; processors compute it.
func Castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// SyncDir makes the names in a folder durable.
func SyncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("open folder to sync: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// makeDir creates a folder and its parents, durably.
func makeDir(fs vfs.FS, dir string) error {
	var created []string
	for at := dir; ; at = fs.PathDir(at) {
		_, err := fs.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("look for folder: %w", err)
		}
		created = append(created, at)
		if fs.PathDir(at) == at {
			break
		}
	}
	if len(created) == 0 {
		return nil
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	for _, at := range created {
		if err := SyncDir(fs, fs.PathDir(at)); err != nil {
			return err
		}
	}
	return nil
}
