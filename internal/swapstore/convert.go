package swapstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Convert brings the store in a folder from a format to a later one: convert
// changes its content. A folder that is not there, or of another format, is left
// as it is. Killed before it returns, it begins again when it is called again, so
// convert may meet what it has changed already. Errors are those of Open.
func Convert(fs vfs.FS, dir string, from, to Format, convert func(*Store) error) error {
	content, found, err := readWhole(fs, dir, formatName)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if found && strings.TrimSuffix(content, "\n") != from.String() {
		return nil
	}
	if !found {
		// Before formats were written, stores were of version 1.
		_, begun, err := readPointer(fs, dir)
		if err != nil || !begun || from.Version != 1 {
			return err
		}
	}
	s, err := Open(fs, dir, from)
	if err != nil {
		return err
	}
	if err := errors.Join(convert(s), s.Close()); err != nil {
		return fmt.Errorf("convert %s from %s to %s: %w", dir, from, to, err)
	}
	_, err = writeWhole(fs, dir, formatName, formatTempName, to.String()+"\n")
	return err
}
