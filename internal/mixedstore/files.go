package mixedstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/internal/swapstore"
)

// files are the large values, in a folder.
type files struct {
	fs  vfs.FS
	dir string
	// prefixes select the keys that have a file. Each ends in a slash.
	prefixes []string
}

const (
	folderName = "values"
	tempSuffix = ".tmp"
)

// openFiles opens the folder, creating it if absent, and removes partially written files that a
// crash left.
func openFiles(fs vfs.FS, dir string, prefixes []string) (*files, error) {
	f := &files{fs, fs.PathJoin(dir, folderName), prefixes}
	if err := fs.MkdirAll(f.dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder of values: %w", err)
	}
	// Without this sync, a crash of the machine could lose the folder with its files.
	if err := swapstore.SyncDir(fs, dir); err != nil {
		return nil, err
	}
	names, err := fs.List(f.dir)
	if err != nil {
		return nil, fmt.Errorf("list values: %w", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, tempSuffix) {
			if err := fs.Remove(fs.PathJoin(f.dir, name)); err != nil {
				return nil, fmt.Errorf("remove a half-written value: %w", err)
			}
		}
	}
	return f, nil
}

// has reports whether a key has a file.
func (f *files) has(key []byte) bool {
	return slices.ContainsFunc(f.prefixes, func(p string) bool { return strings.HasPrefix(string(key), p) })
}

// PathOf returns the path of a key's file below the folder of its store.
func PathOf(key []byte) string { return folderName + "/" + nameOf(key) }

// FilesFolder is the path of the files' folder, below the folder of the store.
const FilesFolder = folderName

// nameOf returns the file name of a key.
func nameOf(key []byte) string {
	prefix, rest, _ := strings.Cut(string(key), "/")
	return prefix + "-" + hex.EncodeToString([]byte(rest))
}

// keyOf is the inverse of nameOf; ok is false for other files.
func keyOf(name string) (key []byte, ok bool) {
	prefix, rest, found := strings.Cut(name, "-")
	raw, err := hex.DecodeString(rest)
	return append([]byte(prefix+"/"), raw...), found && err == nil
}

// keys lists the keys that begin with a prefix, ascending.
func (f *files) keys(prefix []byte) ([][]byte, error) {
	names, err := f.fs.List(f.dir)
	if err != nil {
		return nil, fmt.Errorf("list values: %w", err)
	}
	var out [][]byte
	for _, name := range names {
		if key, ok := keyOf(name); ok && f.has(key) && strings.HasPrefix(string(key), string(prefix)) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out, nil
}

func (f *files) get(key []byte) (value []byte, found bool, err error) {
	return readFile(f.fs, f.fs.PathJoin(f.dir, nameOf(key)))
}

// ReadFile reads a key's file below the folder of a store that is not open.
func ReadFile(fs vfs.FS, dir string, key []byte) (value []byte, found bool, err error) {
	return readFile(fs, fs.PathJoin(dir, folderName, nameOf(key)))
}

func readFile(fs vfs.FS, path string) (value []byte, found bool, err error) {
	file, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read value: %w", err)
	}
	if info, err := file.Stat(); err == nil {
		// The file's size plus the spare bytes with which bytes.Buffer detects the end without growing.
		value = make([]byte, 0, info.Size()+bytes.MinRead)
	}
	buffer := bytes.NewBuffer(value)
	_, err = buffer.ReadFrom(file)
	value = buffer.Bytes()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, false, fmt.Errorf("read value: %w", err)
	}
	return value, true, nil
}

// set atomically writes or replaces a value. It is durable after sync.
func (f *files) set(key, value []byte) error {
	path := f.fs.PathJoin(f.dir, nameOf(key))
	err := swapstore.WriteFile(f.fs, path+tempSuffix, func(w io.Writer) error {
		_, err := w.Write(slices.Clone(value)) // Write may change its argument
		return err
	})
	if err == nil {
		err = swapstore.Replace(f.fs, path, func() error { return f.fs.Rename(path+tempSuffix, path) })
	}
	if err != nil {
		return fmt.Errorf("write value: %w", err)
	}
	return nil
}

// remove unlinks a value, if it exists. That is durable after sync.
func (f *files) remove(key []byte) error {
	if err := swapstore.Unlink(f.fs, f.fs.PathJoin(f.dir, nameOf(key))); err != nil {
		return fmt.Errorf("remove value: %w", err)
	}
	return nil
}

func (f *files) sync() error {
	if err := swapstore.SyncDir(f.fs, f.dir); err != nil {
		return fmt.Errorf("sync values: %w", err)
	}
	return nil
}
