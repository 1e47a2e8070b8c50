package swapstore

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// marked is a file system for an existing database. When Pebble opens one, it writes a new
// manifest, creates a marker that names it, removes the previous marker, and only then syncs the
// folder. If the machine crashes in between, the file system may keep any of these names and lose
// the others: a marker without its manifest, or no marker. So marked also syncs the folder before
// each of the two steps.
type marked struct{ vfs.FS }

// markerPrefix is the prefix of the names of Pebble's markers.
const markerPrefix = "marker."

// Create implements vfs.FS.
func (m marked) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := m.syncBefore(name); err != nil {
		return nil, err
	}
	return m.FS.Create(name, category)
}

// Remove implements vfs.FS.
func (m marked) Remove(name string) error {
	if err := m.syncBefore(name); err != nil {
		return err
	}
	return m.FS.Remove(name)
}

func (m marked) syncBefore(name string) error {
	if !strings.HasPrefix(m.PathBase(name), markerPrefix) {
		return nil
	}
	return SyncDir(m.FS, m.PathDir(name))
}

// Unwrap implements vfs.FS.
func (m marked) Unwrap() vfs.FS { return m.FS }
