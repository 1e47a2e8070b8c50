package train

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/check"
	"lethe/pipeline/role"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer/kernels"
)

// Options configure the role.
type Options struct {
	// Dir is the role's folder, with a store per shard.
	Dir    string
	Layout ensemble.Layout
	// Meta is nil without a meta-model.
	Meta *meta.Config
	// Workers bounds the models trained in parallel.
	Workers int
	// UnderWay bounds the models in training or being stored, at least Workers; 0 is twice Workers, so that processors
	// work while others wait for the disk.
	UnderWay int
	Kernels  kernels.Set
	Secret   lethe.Secret
	// Instance is the data directory's identity.
	Instance string
	// Sharer, if not nil, divides the models among processes, which all have all slices.
	Sharer role.Sharer
	// Pacer may be nil.
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

// tick is the interval of quiet.
const tick = 100 * time.Millisecond

// New opens the stores and returns the role.
func New(o Options) (*role.Follower, error) {
	if o.Tick == 0 {
		o.Tick = tick
	}
	l, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("train role: %w", err)
	}
	around := l.o.Surroundings
	if o.Sharer != nil {
		around.Wake, around.Beside = l.share.wake, l.share.run
	}
	return role.Follow(roleName, l, around), nil
}

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
	l, err := newLogic(o)
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
	l.share, l.topic = newShare(o), make(topic)
	if err := errors.Join(l.openModels(), l.openSetup()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.adoption = newAdoption(l)
	return l, nil
}

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

// unreadable adds the remedy for a shard's store.
func unreadable(err error, shard lethe.ShardID, dir string) error {
	return fmt.Errorf("shard %d: read store: %w (remove the folder %s and start again: "+
		"it is rebuilt from the topics)", shard, err, dir)
}
