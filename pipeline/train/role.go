package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/check"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer/kernels"
)

// Options configures the role.
type Options struct {
	// Dir is the role's own folder; it holds one store per shard.
	Dir string
	// Layout says which models there are and what they are trained with.
	Layout ensemble.Layout
	// Meta shapes the meta-model over them; nil for none.
	Meta *meta.Config
	// Workers bounds how many models train side by side. The result does not
	// depend on it.
	Workers int
	// UnderWay bounds how many models are under way at a time, at least Workers: those beyond wait for the disk
	// with what they have learnt. 0 is twice as many as Workers, also where that is one, for a processor that
	// waits for the disk trains nothing.
	UnderWay int
	Kernels  kernels.Set
	Secret   lethe.Secret
	// Instance is the identity of the data directory, for acknowledgements.
	Instance string
	// Sharer, if not nil, shares the models with other processes that train: each has the
	// slices of all shards and trains what is assigned to it.
	Sharer role.Sharer
	// Pacer keeps searches from taking more than their share, or is nil.
	Pacer *scan.Pacer
	role.Surroundings
}

// Validate reports every problem at once.
func (o Options) Validate() error {
	var p check.Problems
	p.That(o.Dir != "", "dir", o.Dir, "the name of a folder")
	p.That(o.FS != nil, "fs", o.FS, "a file system")
	p.Within("layout", o.Layout.Validate())
	p.AtLeast("workers", o.Workers, 1)
	if o.UnderWay != 0 {
		p.AtLeast("under_way", o.UnderWay, o.Workers)
	}
	p.That(o.Instance != "", "instance", o.Instance, "the identity of the data directory")
	p.That(o.Bus != nil, "bus", o.Bus, "the topics")
	return p.Err()
}

// tick is how often the role is told that time has passed: see quiet.
const tick = 100 * time.Millisecond

// New opens every shard's store and returns the role that trains the shards.
func New(o Options) (*role.Follower, error) {
	if o.Tick == 0 {
		o.Tick = tick
	}
	l, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("train role: %w", err)
	}
	around := l.o.Surroundings
	if l.share != nil {
		around.Wake, around.Beside = l.share.wake, l.share.run
	}
	return role.Follow(roleName, l, around), nil
}

// open opens the shards' stores, each in a folder of its own.
func open(o Options) (*logic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.UnderWay == 0 {
		o.UnderWay = storedBeside * o.Workers
	}
	if err := checkShards(o.FS, o.Dir, o.Layout.Shards); err != nil {
		return nil, err
	}
	l, err := newLogic(o, func(ctx context.Context, command *wire.Command, which func(string) bool) (scan.Summary, error) {
		return command.Search(ctx, o.Secret, scan.Some(swapstore.Files(o.FS, o.Dir), which), o.Pacer)
	})
	if err != nil {
		return nil, err
	}
	for shard := range lethe.ShardID(o.Layout.Shards) {
		c, err := openFolder(o.FS, shardDir(o.Dir, shard), shard)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.columns = append(l.columns, c)
	}
	if o.Sharer != nil {
		l.share = newShare(o)
	}
	l.sayer = &sayer{learners: l.learners, secret: o.Secret, kernels: o.Kernels.Name}
	if err := errors.Join(l.openModels(), l.sayer.open()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if l.share != nil {
		l.adoption = newAdoption(l)
	}
	return l, nil
}

// openFolder opens the store in a folder and reads where the shard stands.
func openFolder(fsys vfs.FS, dir string, shard lethe.ShardID) (*column, error) {
	store, err := openStore(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("shard %d: open store: %w", shard, err)
	}
	c, err := openColumn(store, shard)
	if err != nil {
		return nil, unreadable(errors.Join(err, store.Close()), shard, dir)
	}
	return c, nil
}

// unreadable says what to do about a shard's store.
func unreadable(err error, shard lethe.ShardID, dir string) error {
	return fmt.Errorf("shard %d: read store: %w (remove the folder %s and start again: "+
		"it is rebuilt from the topics)", shard, err, dir)
}
