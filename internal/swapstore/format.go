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
	if found, err := compareFormat(fs, dir, want); found || err != nil {
		return err
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
	_, err := compareFormat(fs, dir, want)
	return err
}

// compareFormat returns whether a folder has a format, and ErrFormat if it differs.
func compareFormat(fs vfs.FS, dir string, want Format) (found bool, err error) {
	content, found, err := readWhole(fs, dir, formatName)
	if got := strings.TrimSuffix(content, "\n"); found && got != want.String() {
		err = fmt.Errorf("%w: %s is %q, this program reads %q", ErrFormat, dir, got, want)
	}
	return found, err
}
