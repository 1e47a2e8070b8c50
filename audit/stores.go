package audit

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/internal/patientfs"
	"lethe/internal/swapstore"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/service"
)

// remade is the remedy for missing data of train and score.
const remade = "start lethe run, which makes it again from the topics"

// lacks records a missing directory: the one that an error names, or else dir.
func (inv *inventory) lacks(err error, dir, remedy string) {
	var named *fs.PathError
	if errors.As(err, &named) {
		dir = named.Path
	}
	inv.missing = append(inv.missing, fmt.Sprintf("%s is missing: %s", dir, remedy))
}

// takeColumns reads the stores of train.
func (inv *inventory) takeColumns() error {
	c, role := inv.config, configs.RoleTrain
	dir, fsys := service.RoleDir(c.DataDir, role), service.RemediedFS(vfs.Default, c.DataDir, role)
	for shard := range lethe.ShardID(c.Partition.Shards) {
		h, err := train.ReadHistory(fsys, dir, shard)
		if absent(err) {
			// An empty one takes its place.
			inv.lacks(err, dir, remade)
			h, err = &train.History{Shard: shard}, nil
		}
		if err != nil {
			return opening(err, c.DataDir, role)
		}
		inv.columns = append(inv.columns, h)
	}
	return nil
}

// takeServed reads the store of score.
func (inv *inventory) takeServed() (err error) {
	c, role := inv.config, configs.RoleScore
	dir, fsys := service.RoleDir(c.DataDir, role), service.RemediedFS(vfs.Default, c.DataDir, role)
	inv.served, err = score.ReadServed(fsys, dir, inv.layout, inv.over)
	if absent(err) {
		inv.lacks(err, dir, remade)
		inv.served, err = &score.Served{Through: lethe.NoTimestep}, nil
	}
	return opening(err, c.DataDir, role)
}

// absent reports whether a store is not there. One of which a file is not there is damaged.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) && !errors.Is(err, swapstore.ErrCorrupt)
}

// opening adds the remedy to an error of opening or reading a role's store.
func opening(err error, dataDir, role string) error {
	switch remedied := service.Remedied(err, dataDir, role); {
	case err == nil || errors.Is(err, swapstore.ErrInUse):
		return err
	case patientfs.MayPass(err):
		return fmt.Errorf("%w (stores are locked and written while they are read: make %s writable, with free space, or "+
			"verify a copy of it)", err, dataDir)
	case errors.Is(err, deletions.ErrFormat):
		return fmt.Errorf("%w (use the version of lethe that wrote it)", err)
	case remedied != err: //nolint:errorlint // whether a remedy was added
		return remedied
	}
	return fmt.Errorf("%w (give the configuration that the directory was written with; if it was this one, %s)", err,
		service.Remedy(dataDir, role))
}
