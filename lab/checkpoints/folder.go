package checkpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"lethe/canonical"
	"lethe/internal/atomicfile"
	"lethe/lab/networks"
	"lethe/lab/protocol"
	"lethe/trainer"
)

const (
	magic   = "LRUN"
	version = 1
)

// Folder keeps one file per shard; it is made when the first is kept. It may be used
// from several goroutines at once.
type Folder string

// Load implements protocol.Checkpoints.
func (f Folder) Load(key protocol.CheckpointKey) (*protocol.Trained, bool, error) {
	content, err := os.ReadFile(f.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	trained, err := decode(content)
	if err == nil && key != protocol.KeyOf(trained.Checkpoint) {
		err = fmt.Errorf("%w: holds another shard than its name says", canonical.ErrCorrupt)
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w (remove the file to have the shard trained again)", f.file(key), err)
	}
	return trained, true, nil
}

// Save implements protocol.Checkpoints. The file is there whole or not at all.
func (f Folder) Save(trained *protocol.Trained) error {
	return atomicfile.Write(f.file(protocol.KeyOf(trained.Checkpoint)), encode(trained), 0o644)
}

func (f Folder) file(key protocol.CheckpointKey) string {
	return filepath.Join(string(f), fmt.Sprintf("shard-%03d-timestep-%03d-%s-%s.checkpoint",
		key.Shard, key.Timestep, key.Kernels, key.Lineage))
}

func encode(t *protocol.Trained) []byte {
	w := canonical.NewWriter(magic, version)
	w.Uint64(uint64(t.Steps))
	w.Uint64(uint64(t.Spent))
	checkpoint := trainer.EncodeCheckpoint(t.Checkpoint)
	w.Count(len(checkpoint))
	w.Bytes(checkpoint)
	return w.Seal()
}

func decode(content []byte) (*protocol.Trained, error) {
	r, err := canonical.NewReader(content, magic, version)
	if err != nil {
		return nil, err
	}
	t := &protocol.Trained{Steps: int(r.Uint64()), Spent: time.Duration(r.Uint64())}
	checkpoint := make([]byte, r.Count(1))
	r.Bytes(checkpoint)
	if err := r.Close(); err != nil {
		return nil, err
	}
	t.Checkpoint, err = trainer.DecodeCheckpoint(checkpoint, networks.More()...)
	return t, err
}

var _ protocol.Checkpoints = Folder("")
