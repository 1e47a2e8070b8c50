package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

// folders lists what lies in the store's folder: whether staging does, and the stores of
// timesteps.
func folders(files vfs.FS, dir string) (staging bool, stores []lethe.Timestep, err error) {
	names, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	for _, name := range names {
		base := files.PathBase(name)
		staging = staging || base == stagingName
		if t, ok := parseStoreName(base); ok {
			stores = append(stores, t)
		}
	}
	return staging, stores, err
}

// requireStaging refuses a folder of which staging was removed: the other stores would
// be taken for left-overs, and what was erased would be taken again.
func requireStaging(files vfs.FS, dir string) error {
	staging, stores, err := folders(files, dir)
	if err == nil && !staging && len(stores) > 0 {
		err = fmt.Errorf("%w: %s holds the stores of %d timesteps, but no %s (put the folder back from a copy)",
			ErrCorrupt, dir, len(stores), stagingName)
	}
	return err
}

// requireStores refuses a folder of which the store of a closed timestep was removed, or
// is of another format.
func requireStores(s *staging, files vfs.FS, dir string) error {
	_, stores, err := folders(files, dir)
	if err != nil {
		return err
	}
	for _, t := range stores {
		if err := swapstore.CheckFormat(files, files.PathJoin(dir, storeName(t)), graphFormat()); err != nil {
			return err
		}
	}
	for _, i := range s.timesteps() {
		if i.State > lethe.Open && !slices.Contains(stores, i.Timestep) {
			return fmt.Errorf("%w: %s holds no %s (put the folder back from a copy)", ErrCorrupt, dir, storeName(i.Timestep))
		}
	}
	return nil
}
