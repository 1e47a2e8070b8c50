package scan

import (
	"io/fs"
	"path"
)

// Some shows a part of a file system: the files and folders that keep is true for.
// It is asked about slash-separated paths; what is in a folder that is left out is
// left out too.
func Some(fsys fs.FS, keep func(path string) bool) fs.FS { return some{fsys, keep} }

type some struct {
	fs.FS
	keep func(path string) bool
}

var _ fs.ReadDirFS = some{}

// ReadDir implements fs.ReadDirFS.
func (s some) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(s.FS, name)
	kept := make([]fs.DirEntry, 0, len(all))
	for _, entry := range all {
		if s.keep(path.Join(name, entry.Name())) {
			kept = append(kept, entry)
		}
	}
	return kept, err
}
