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
	return want.compare(dir, content)
}

// CheckFormat compares the format that the store in a folder was written with, without
// opening it. A folder without a mark passes: Open judges it. The error is ErrFormat, or
// of the file system.
func CheckFormat(fs vfs.FS, dir string, want Format) error {
	content, found, err := readWhole(fs, dir, formatName)
	if err != nil || !found {
		return err
	}
	return want.compare(dir, content)
}

// compare returns ErrFormat if a folder's mark is of another format.
func (f Format) compare(dir, mark string) error {
	if got := strings.TrimSuffix(mark, "\n"); got != f.String() {
		return fmt.Errorf("%w: %s is %q, this program reads %q", ErrFormat, dir, got, f)
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
