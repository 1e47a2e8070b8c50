package score

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/trainer"
)

// Served describes the ensemble in a role's folder, read while no role is
// running.
type Served struct {
	// Through is NoTimestep if no ensemble is served yet.
	Through lethe.Timestep
	Version lethe.Digest
	// Checkpoints are canonical bytes, by shard.
	Checkpoints [][]byte
	Predictions int
}

// ReadServed reads what the role serves.
func ReadServed(dir string, config trainer.Config, shards int) (_ *Served, err error) {
	store, err := swapstore.Open(vfs.Default, stateDir(dir), storeFormat())
	if err != nil {
		return nil, fmt.Errorf("score role: open store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s, err := readState(store, config, shards)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	out := &Served{Through: lethe.NoTimestep}
	for _, q := range s.quality {
		out.Predictions += q.predictions
	}
	if s.served == nil {
		return out, nil
	}
	out.Through, out.Version = s.served.Through, s.served.Version
	for _, m := range s.served.Models {
		out.Checkpoints = append(out.Checkpoints, trainer.EncodeCheckpoint(m))
	}
	return out, nil
}

func stateDir(dir string) string { return filepath.Join(dir, "state") }
