package score

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// Served is the ensemble in the folder of a stopped role.
type Served struct {
	// Through is NoTimestep if no ensemble is served yet.
	Through lethe.Timestep
	Version lethe.Digest
	// Checkpoints are canonical bytes, by the numbers of the models.
	Checkpoints [][]byte
	// Meta is the encoded meta-model; nil if there is none.
	Meta        []byte
	Predictions int
	// Next are the read offsets.
	Next map[bus.TopicPartition]int64
}

// ReadServed reads the served ensemble. The error is fs.ErrNotExist if there is no store in the folder.
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
	same, err := newModels(store, layout, over).ofTheseKinds()
	if err == nil && !same {
		err = errOtherComponents
	}
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
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
	if s.models.served == nil {
		return out, nil
	}
	out.Through, out.Version = s.models.served.Through, s.models.served.Version
	for _, m := range s.models.served.Models {
		out.Checkpoints = append(out.Checkpoints, trainer.EncodeCheckpoint(m))
	}
	if s.models.served.Meta != nil {
		out.Meta = s.models.served.Meta.Encode()
	}
	return out, nil
}

const stateFolder = "state"

func stateDir(dir string) string { return filepath.Join(dir, stateFolder) }

// CarrySuppressed creates the store of a role in one folder with the suppressed targets, as keyed hashes, of the store
// in another. It copies nothing else.
func CarrySuppressed(fsys vfs.FS, from, to string) (err error) {
	if _, err := fsys.Stat(stateDir(from)); err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	before, err := openStore(fsys, from)
	if err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	type row struct{ key, value []byte }
	var rows []row
	for _, prefix := range []string{suppressedPrefix, subjectPrefix, redactedPrefix} {
		if err := before.Scan([]byte(prefix), func(key, value []byte) error {
			rows = append(rows, row{bytes.Clone(key), bytes.Clone(value)})
			return nil
		}); err != nil {
			return fmt.Errorf("score role: %w", err)
		}
	}
	after, err := openStore(fsys, to)
	if err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	err = after.Apply(func(w swapstore.Writer) error {
		for _, r := range rows {
			w.Set(r.key, r.value)
		}
		return nil
	})
	if err = errors.Join(err, after.Close()); err != nil {
		return fmt.Errorf("score role: %w", err)
	}
	return nil
}
