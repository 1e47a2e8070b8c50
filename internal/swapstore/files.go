package swapstore

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Files returns the files below a folder of a store's file system, so that they can be searched
// byte by byte.
func Files(fsys vfs.FS, dir string) fs.FS {
	if vfs.Root(fsys) == vfs.Default {
		return os.DirFS(dir)
	}
	return files{fsys, dir}
}

// files adapts a folder of a vfs.FS to fs.FS.
type files struct {
	fsys vfs.FS
	dir  string
}

var _ fs.ReadDirFS = files{}

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.fsys.Open(f.fsys.PathJoin(f.dir, name))
	if err != nil {
		return nil, err
	}
	return opened{file}, nil
}

// ReadDir implements fs.ReadDirFS. It omits files that are removed meanwhile.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := f.fsys.List(f.fsys.PathJoin(f.dir, name))
	if err != nil {
		return nil, err
	}
	out := make([]fs.DirEntry, 0, len(names))
	for _, base := range names {
		info, err := f.fsys.Stat(f.fsys.PathJoin(f.dir, path.Join(name, base)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	return out, nil
}

// opened is a file opened for reading.
type opened struct{ vfs.File }

// Stat implements fs.File.
func (o opened) Stat() (fs.FileInfo, error) { return o.File.Stat() }
