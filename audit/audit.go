package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/deletions"
	"lethe/internal/swapstore"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/service"
	"lethe/snapshot"
	"lethe/trainer"
)

// Options says what to check.
type Options struct {
	// Config must be the one the directory was written with.
	Config configs.Config
	// Fresh trains every shard anew from its slices and compares.
	Fresh bool
	// Progress, if not nil, is called with how many shards have been trained anew.
	Progress func(done, of int)
}

// Report is the outcome. The JSON names are part of the command line.
type Report struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
	// Timesteps counts the settled ones.
	Timesteps    int    `json:"timesteps"`
	Transactions int    `json:"transactions"`
	EnsembleHash string `json:"ensemble_hash"`
	Slices       int    `json:"slices"`
	Checkpoints  int    `json:"checkpoints"`
	// Fresh says how many checkpoints were trained anew and found equal.
	FreshCheckpoints int     `json:"fresh_checkpoints"`
	FreshSeconds     float64 `json:"fresh_seconds"`
	// Erasures counts the verified erasures whose traces were searched for in
	// Files files of Bytes bytes.
	Erasures int   `json:"erasures"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
}

// maxProblems bounds the list: a broken directory has thousands.
const maxProblems = 50

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// inventory is what the stores hold.
type inventory struct {
	config  configs.Config
	secret  lethe.Secret
	trainer trainer.Config
	steps   []*snapshot.Content
	columns []*train.History
	served  *score.Served
	done    []deletions.Entry
}

// Check reads the whole directory and reports everything that is wrong. The
// error is for what could not be read at all.
func Check(ctx context.Context, o Options) (*Report, error) {
	inv, err := take(o.Config)
	if err != nil {
		return nil, err
	}
	r := &Report{Problems: []string{}}
	inv.checkGraphs(r)
	if err := inv.checkSlices(r); err != nil {
		return nil, err
	}
	inv.checkCheckpoints(r)
	inv.checkServed(r)
	if err := inv.search(ctx, r); err != nil {
		return nil, err
	}
	if o.Fresh {
		started := time.Now()
		if err := inv.trainAnew(ctx, r, o.Progress); err != nil {
			return nil, err
		}
		r.FreshSeconds = time.Since(started).Seconds()
	}
	r.OK = len(r.Problems) == 0
	return r, nil
}

// take opens every store, reads it and closes it again.
func take(c configs.Config) (*inventory, error) {
	if _, err := os.Stat(c.DataDir); err != nil {
		return nil, fmt.Errorf("data directory: %w (name it with --data-dir)", err)
	}
	if _, err := os.Stat(c.SecretPath()); err != nil {
		return nil, fmt.Errorf("the deployment's secret: %w (is %s a data directory of lethe?)", err, c.DataDir)
	}
	secret, err := configs.LoadOrCreateSecret(c.SecretPath(), nil)
	if err != nil {
		return nil, err
	}
	inv := &inventory{config: c, secret: secret, trainer: c.TrainerConfig()}
	if err := inv.takeGraphs(); err != nil {
		return nil, err
	}
	for shard := range lethe.ShardID(c.Partition.Shards) {
		h, err := train.ReadHistory(service.RoleDir(c.DataDir, configs.RoleTrain), shard)
		if err != nil {
			return nil, opening(err)
		}
		inv.columns = append(inv.columns, h)
	}
	inv.served, err = score.ReadServed(service.RoleDir(c.DataDir, configs.RoleScore), inv.trainer, c.Partition.Shards)
	return inv, opening(err)
}

// opening adds the remedy to an error of opening a store.
func opening(err error) error {
	var remedy string
	switch {
	case err == nil || errors.Is(err, swapstore.ErrInUse):
		return err
	case errors.Is(err, swapstore.ErrFormat) || errors.Is(err, deletions.ErrFormat) ||
		errors.Is(err, canonical.ErrVersion):
		remedy = "use the version of lethe that wrote it"
	case errors.Is(err, swapstore.ErrCorrupt) || errors.Is(err, snapshot.ErrCorrupt) ||
		errors.Is(err, canonical.ErrCorrupt):
		remedy = "the directory is damaged: restore it from a copy"
	default:
		remedy = "give the configuration that the directory was written with"
	}
	return fmt.Errorf("%w (%s)", err, remedy)
}

func snapshotDir(c configs.Config) string {
	return filepath.Join(service.RoleDir(c.DataDir, configs.RoleBuild), "snapshots")
}
