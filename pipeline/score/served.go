package score

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/ingest/bus"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// Served describes the ensemble in a role's folder, read while no role is
// running.
type Served struct {
	// Through is NoTimestep if no ensemble is served yet.
	Through lethe.Timestep
	Version lethe.Digest
	// Checkpoints are canonical bytes, by the numbers of the models.
	Checkpoints [][]byte
	// Meta is the canonical bytes of the meta-model; nil if there is none.
	Meta        []byte
	Predictions int
	// Next are the positions behind the last records that were read.
	Next map[bus.TopicPartition]int64
}

// ReadServed reads what the role serves. The error is fs.ErrNotExist if there is no store
// in its folder.
func ReadServed(fsys vfs.FS, dir string, layout ensemble.Layout, over *meta.Config) (_ *Served, err error) {
	if _, err := fsys.Stat(stateDir(dir)); err != nil {
		// Opening would create an empty store.
		return nil, fmt.Errorf("score role: %w", err)
	}
	store, err := openStore(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s, err := readState(store, layout, over)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	out := &Served{Through: lethe.NoTimestep, Next: make(map[bus.TopicPartition]int64)}
	if err := readOffsets(store, out.Next); err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
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
	if s.served.Meta != nil {
		out.Meta = s.served.Meta.Encode()
	}
	return out, nil
}

const stateFolder = "state"

func stateDir(dir string) string { return filepath.Join(dir, stateFolder) }
