package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/canonical"
	"lethe/configs"
	"lethe/internal/patientfs"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Remedy is an operator's remedy for a role's damaged directory. Deleting only a part of the graphs' directory is
// rejected at the next start: its stores depend on each other.
func Remedy(dataDir, role string) string {
	if role == configs.RoleGraphs {
		return fmt.Sprintf("put the folder %s back from a copy, or remove the whole of it and start again: it is rebuilt "+
			"from the topics", RoleDir(dataDir, configs.RoleBuild))
	}
	return fmt.Sprintf("remove the folder %s and start again: it is rebuilt from the topics", RoleDir(dataDir, role))
}

// RemediedFS is a file system for the stores of a role. Their errors about damaged files include the
// remedy.
func RemediedFS(fs vfs.FS, dataDir, role string) vfs.FS {
	return swapstore.Remedied(fs, Remedy(dataDir, role))
}

// Remedied adds the remedy to an error about a role's directory that is damaged, or of another version.
func Remedied(err error, dataDir, role string) error {
	var remedy string
	switch {
	case errors.Is(err, swapstore.ErrFormat) || errors.Is(err, canonical.ErrVersion):
		remedy = "use the version of lethe that wrote it"
	case errors.Is(err, swapstore.ErrCorrupt) || errors.Is(err, snapshot.ErrCorrupt) ||
		errors.Is(err, canonical.ErrCorrupt):
		remedy = Remedy(dataDir, role)
	}
	if remedy == "" || strings.Contains(err.Error(), remedy) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, remedy)
}

// roleProcess is a role that reports the remedy when its directory is damaged.
type roleProcess struct {
	role.Role
	dataDir, name string

	patience *patientfs.Patience
}

// Run implements supervisor.Process. It also stops a role that is waiting for the disk, which
// cannot be signalled in any other way.
func (r roleProcess) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, r.patience.Stop)()
	return Remedied(r.Role.Run(ctx), r.dataDir, r.name)
}
