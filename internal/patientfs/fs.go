package patientfs

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS returns a file system whose writes wait.
func (p *Patience) FS(inner vfs.FS) vfs.FS { return patientFS{inner, p} }

type patientFS struct {
	vfs.FS
	patience *Patience
}

// Unwrap implements vfs.FS.
func (f patientFS) Unwrap() vfs.FS { return f.FS }

// Create implements vfs.FS.
func (f patientFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

// OpenReadWrite implements vfs.FS.
func (f patientFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	return f.opened(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, opts...) })
}

// ReuseForWrite implements vfs.FS.
func (f patientFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.opened(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

// opened opens a file whose writes wait too.
func (f patientFS) opened(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.patience.Do(name, func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return patientFile{file, name, f.patience}, nil
}

// Link implements vfs.FS.
func (f patientFS) Link(oldname, newname string) error {
	return f.patience.Do(newname, func() error { return f.FS.Link(oldname, newname) })
}

// Remove implements vfs.FS.
func (f patientFS) Remove(name string) error {
	return f.patience.Do(name, func() error { return f.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (f patientFS) RemoveAll(name string) error {
	return f.patience.Do(name, func() error { return f.FS.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (f patientFS) Rename(oldname, newname string) error {
	return f.patience.Do(newname, func() error { return f.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f patientFS) MkdirAll(dir string, perm os.FileMode) error {
	return f.patience.Do(dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

type patientFile struct {
	vfs.File
	name     string
	patience *Patience
}

// Write implements vfs.File. After a partial write it continues with the rest.
func (f patientFile) Write(b []byte) (written int, err error) {
	err = f.patience.Do(f.name, func() error {
		n, err := f.File.Write(b[written:])
		written += n
		return err
	})
	return written, err
}

// WriteAt implements vfs.File.
func (f patientFile) WriteAt(b []byte, offset int64) (written int, err error) {
	err = f.patience.Do(f.name, func() error {
		n, err := f.File.WriteAt(b[written:], offset+int64(written))
		written += n
		return err
	})
	return written, err
}
