package score

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/check"
	"lethe/internal/swapstore"
	"lethe/partition/onehop"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// Options configures the role.
type Options struct {
	// Dir is the role's own folder.
	Dir    string
	Shards int
	// Workers bounds how many shard models are asked side by side. The result
	// does not depend on it.
	Workers int
	Scoring scoring.Config
	// OneHop is what slices are built with: models see graphs as they saw slices.
	OneHop onehop.Mode
	// Trainer is what the models are trained with: lineages depend on it.
	Trainer trainer.Config
	Kernels kernels.Set
	Secret  lethe.Secret
	role.Surroundings
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var p check.Problems
	p.AtLeast("shards", o.Shards, 1)
	p.AtLeast("workers", o.Workers, 1)
	p.That(o.Bus != nil, "bus", o.Bus, "the topics")
	return errors.Join(p.Err(), o.Scoring.Validate())
}

// New opens the role's store and returns the role that scores snapshots.
func New(o Options) (*role.Follower, error) {
	l, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("score role: %w", err)
	}
	return role.Follow(roleName, l, l.o.Surroundings), nil
}

// open opens the store in the role's folder.
func open(o Options) (*logic, error) {
	if o.Dir == "" {
		return nil, errors.New("dir is empty")
	}
	store, err := swapstore.Open(vfs.Default, stateDir(o.Dir), storeFormat())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	l, err := newLogic(o, store, func(ctx context.Context, command *wire.Command) (scan.Summary, error) {
		return command.Search(ctx, o.Secret, o.Dir)
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return l, nil
}
