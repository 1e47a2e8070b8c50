package swapstore

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	formatName     = "FORMAT"
	formatTempName = "FORMAT.tmp"
)

// Format identifies the keys and values of a store: the kind of store, and the version of its
// encoding. The zero value disables the check, for stores such as those of tests.
type Format struct {
	Kind    string
	Version int
}

// String returns the format as written in the store's folder.
func (f Format) String() string { return fmt.Sprintf("%s/%d", f.Kind, f.Version) }

// checkFormat checks the format in a folder, or writes it into a new one.
func checkFormat(fs vfs.FS, dir string, want Format) error {
	if want == (Format{}) {
		return nil
	}
	content, found, err := readWhole(fs, dir, formatName)
	if err != nil {
		return err
	}
	if found {
		return want.compare(dir, content)
	}
	made, err := generations(fs, dir)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		return fmt.Errorf("%w: %s has none, this program reads %q", ErrFormat, dir, want)
	}
	_, err = writeWhole(fs, dir, formatName, formatTempName, want.String()+"\n")
	return err
}

// CheckFormat checks the format of the store in a folder without opening it. A folder without a
// format passes: Open checks it. Errors: ErrFormat, those of the file system.
func CheckFormat(fs vfs.FS, dir string, want Format) error {
	content, found, err := readWhole(fs, dir, formatName)
	if err != nil || !found {
		return err
	}
	return want.compare(dir, content)
}

// compare returns ErrFormat if a folder's format differs.
func (f Format) compare(dir, mark string) error {
	if got := strings.TrimSuffix(mark, "\n"); got != f.String() {
		return fmt.Errorf("%w: %s is %q, this program reads %q", ErrFormat, dir, got, f)
	}
	return nil
}
