package closed

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

const folderPrefix = "t"

// FolderName is the name of a closed timestep's folder.
func FolderName(t lethe.Timestep) string { return fmt.Sprintf("%s%06d", folderPrefix, t) }

// parseFolderName reads what FolderName wrote, and nothing else: the folder may
// hold what is not ours.
func parseFolderName(name string) (lethe.Timestep, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, folderPrefix), 10, 64)
	t := lethe.Timestep(n)
	return t, err == nil && FolderName(t) == name
}

// Folders lists the timesteps that have a store in a folder, which may not be there.
func Folders(files vfs.FS, dir string) (stores []lethe.Timestep, err error) {
	names, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		if t, ok := parseFolderName(files.PathBase(name)); ok {
			stores = append(stores, t)
		}
	}
	return stores, err
}

// Require refuses a folder in which one of some timesteps has no store, or one of another format. Errors:
// stored.ErrCorrupt, swapstore.ErrFormat.
func (c *Graphs) Require(timesteps []lethe.Timestep) error {
	stores, err := Folders(c.fs, c.dir)
	if err != nil {
		return err
	}
	for _, t := range timesteps {
		if !slices.Contains(stores, t) {
			return fmt.Errorf("%w: %s holds no %s (put the folder back from a copy)", stored.ErrCorrupt, c.dir, FolderName(t))
		}
		if err := swapstore.CheckFormat(c.fs, c.path(t), Format()); err != nil {
			return err
		}
	}
	return nil
}
