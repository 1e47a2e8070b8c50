package snapshot

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/check"
	"lethe/snapshot/closed"
	"lethe/snapshot/stored"
	"lethe/snapshot/suppressed"
)

// Store holds the timesteps of one deployment. One goroutine owns it.
//
// It has two parts: staging holds records until their timestep closes, and the state of every
// timestep; closed has the graph of each closed timestep.
type Store struct {
	*timesteps
	staging *staging
	closed  graphs
	// recent, if not nil, is the timestep that closed last, because its owner loads it first. Load returns it once.
	recent  *Content
	closing closings
}

// graphs are the graphs of closed timesteps.
type graphs struct {
	closed.Folder
	staging *staging
}

// at reads parts of a closed timestep.
func (g graphs) at(t lethe.Timestep) closed.Graph { return g.Of(t, g.staging.files(t)) }

// row returns a row of the graph of a closed timestep.
func (g graphs) row(t lethe.Timestep, p lethe.Pseudonym) (stored.Row, bool, error) {
	value, found, err := g.at(t).Row(p)
	if err != nil || !found {
		return stored.Row{}, false, err
	}
	r, err := stored.DecodeRow(value)
	return r, true, err
}

func (g graphs) read(i Info) (*Content, error) {
	s, shards, err := g.Of(i.Timestep, i.Files).Read()
	if err != nil {
		return nil, err
	}
	s.Revision = i.Revision
	return &Content{Info: i, Snapshot: s, Assignment: shards}, nil
}

// Options configure a Store. When an existing store is opened, secret and partition counts must
// equal the stored ones.
type Options struct {
	Config
	// Secret is the key of the pseudonyms.
	Secret lethe.Secret
	// FS is the file system of the store, for example vfs.Default.
	FS vfs.FS
	// TransactionPartitions and LabelPartitions are the streams' partition counts, at least 1.
	TransactionPartitions int
	LabelPartitions       int
}

// Validate reports every value that is out of bounds.
func (o Options) Validate() error {
	p := check.Of(o.Config.Validate())
	p.That(o.FS != nil, "fs", nil, "a file system")
	p.That(o.Secret != (lethe.Secret{}), "secret", "all zero", "a key")
	p.AtLeast("transaction_partitions", o.TransactionPartitions, 1)
	p.AtLeast("label_partitions", o.LabelPartitions, 1)
	return p.Err()
}

func (o Options) lateness(s Stream) int {
	if s == Labels {
		return o.LabelLatenessTimesteps
	}
	return o.AllowedLatenessTimesteps
}

// Open opens the store in a folder, creating it if absent, and recovers from a crash. Errors:
// ErrIncompatible, ErrCorrupt, swapstore.ErrFormat, those of the options and those of the file
// system.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	folder := closed.Folder{FS: o.FS, Dir: dir}
	if err := requireStaging(folder); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", err)
	}
	staging, err := openStaging(o.FS.PathJoin(dir, StagingFolder), o)
	if err != nil {
		return nil, err
	}
	s := &Store{timesteps: staging.timesteps, staging: staging, closed: graphs{folder, staging}}
	for _, i := range s.Timesteps() {
		if err == nil {
			err = folder.Require(i.Timestep, i.Files)
		}
	}
	if err == nil {
		err = (transition{s, staging.change()}).recover()
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Close closes the store. An uncommitted batch is lost.
func (s *Store) Close() error {
	s.closing.abandon()
	return s.staging.Close()
}

// Offsets returns where to resume every topic partition: one after the last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.staging.offsets) }

// Suppressed returns the list of erased targets.
func (s *Store) Suppressed() *suppressed.List { return s.staging.suppressed }

// Content is a closed or settled timestep.
type Content struct {
	Info Info
	// Snapshot has the labels once the timestep is settled; before, every label
	// is lethe.Unknown.
	Snapshot *lethe.Snapshot
	// Assignment holds each node's shard once the timestep is settled, else nil.
	Assignment []lethe.ShardID
}

// Load reads a closed or settled timestep. Errors: ErrUnknownTimestep, and ErrNotReady for an
// open one.
func (s *Store) Load(t lethe.Timestep) (*Content, error) {
	i, closed, err := s.staging.due(t, lethe.Closed, nil)
	if !closed {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
	}
	if c := s.recent; c != nil {
		if s.recent = nil; c.Info == i {
			return c, nil
		}
	}
	c, err := s.closed.read(i)
	if err != nil {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
	}
	return c, nil
}

// Without returns the timestep without deleted data.
func (c *Content) Without(gone lethe.Removal) *Content {
	rest := &Content{Info: c.Info, Snapshot: c.Snapshot.Removed(gone)}
	for i, shard := range c.Assignment {
		if !gone.Nodes[c.Snapshot.Nodes[i].Pseudonym] {
			rest.Assignment = append(rest.Assignment, shard)
		}
	}
	return rest
}
