package swapstore

import (
	"fmt"
	"strconv"
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

// checkFormat checks the format in a folder, or writes it into a new one. Errors: ErrFormat if it is of another
// version, ErrCorrupt if no version writes that.
func checkFormat(fs vfs.FS, dir string, want Format) error {
	if want == (Format{}) {
		return nil
	}
	content, found, err := readWhole(fs, dir, formatName)
	if found && err == nil {
		return compareFormat(strings.TrimSuffix(content, "\n"), dir, want)
	}
	if err != nil {
		return err
	}
	made, err := generations(fs, dir)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		return fmt.Errorf("%w: %s is missing", ErrCorrupt, formatName)
	}
	_, err = writeWhole(fs, dir, formatName, formatTempName, want.String()+"\n")
	return err
}

func compareFormat(got, dir string, want Format) error {
	version, ofKind := strings.CutPrefix(got, want.Kind+"/")
	n, _ := strconv.Atoi(version)
	switch {
	case got == want.String():
		return nil
	case ofKind && n > 0 && version == strconv.Itoa(n):
		return fmt.Errorf("%w: %s is %q, this program reads %q", ErrFormat, dir, got, want)
	}
	return fmt.Errorf("%w: %s of %d bytes names no version of %s", ErrCorrupt, formatName, len(got), want.Kind)
}
