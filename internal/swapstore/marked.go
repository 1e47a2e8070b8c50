package swapstore

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// marked is a file system for a database that was there before. Opened, Pebble writes a
// new manifest, creates a marker that names it, removes the marker before it, and only
// then syncs the folder. A file system may keep any of these names and lose the others
// when the machine stops in between: a marker without its manifest, or no marker. So the
// folder is synced before each of the two steps as well.
type marked struct{ vfs.FS }

// markerPrefix begins the names of Pebble's markers.
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
