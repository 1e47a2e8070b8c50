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

// Format says what the keys and values of a store mean: whose they are, and
// which version of that. The zero value stands for a store that nobody but its
// maker opens, as in tests, and is not checked.
type Format struct {
	Kind    string
	Version int
}

// String returns the format as it is written in the store's folder.
func (f Format) String() string { return fmt.Sprintf("%s/%d", f.Kind, f.Version) }

// checkFormat compares the format that a folder was written with. A folder from
// before formats were written holds version 1 of what it is opened as; it and a
// new one are marked.
func checkFormat(fs vfs.FS, dir string, want Format) error {
	if want == (Format{}) {
		return nil
	}
	content, found, err := readWhole(fs, dir, formatName)
	if err != nil {
		return err
	}
	if !found {
		return markFormat(fs, dir, want)
	}
	if got := strings.TrimSuffix(content, "\n"); got != want.String() {
		return fmt.Errorf("%w: %s is %q, this program reads %q", ErrFormat, dir, got, want)
	}
	return nil
}

// markFormat writes the format into the folder of a store that has none. A store of another
// version than the first was never written without.
func markFormat(fs vfs.FS, dir string, want Format) error {
	found, err := generations(fs, dir)
	if err != nil {
		return err
	}
	if len(found) > 0 && want.Version != 1 {
		return fmt.Errorf("%w: %s is \"%s/1\", this program reads %q", ErrFormat, dir, want.Kind, want)
	}
	_, err = writeWhole(fs, dir, formatName, formatTempName, want.String()+"\n")
	return err
}
