package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/check"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/suppressed"
)

// Store holds the timesteps of one deployment. One goroutine owns it.
//
// It has two parts: staging holds records until their timestep closes, and the state of every
// timestep; closed has a store for the graph of each closed timestep.
type Store struct {
	*timesteps
	staging *staging
	closed  *closed.Graphs
	// recent, if not nil, is the timestep that closed last, because its owner loads it first. Load returns it once.
	recent *Content
	// closing are the timesteps that are closing, ascending.
	closing []*Closing
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
	graphs, err := closed.New(o.FS, dir, o.OpenStores)
	if err != nil {
		return nil, err
	}
	if err := requireStaging(o.FS, dir); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", err)
	}
	staging, err := openStaging(o.FS.PathJoin(dir, StagingFolder), o)
	if err != nil {
		return nil, err
	}
	s := &Store{timesteps: staging.timesteps, staging: staging, closed: graphs}
	err = graphs.Require(staging.closedTimesteps())
	if err == nil {
		err = makeGood(s)
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Close closes the store. An uncommitted batch is lost.
func (s *Store) Close() error {
	abandon(s)
	return errors.Join(s.closed.CloseAll(), s.staging.Close())
}

// Offsets returns where to resume every topic partition: one after the last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.staging.offsets) }

// ContinueRevisions makes timesteps begin with the revision after the given ones, which a lost store
// published. The store must be empty.
func ContinueRevisions(s *Store, last map[lethe.Timestep]lethe.Revision) error {
	err := s.staging.Apply(func(w swapstore.Writer) error {
		for t, r := range last {
			w.Set(timestepKey(kindGone, t), binary.BigEndian.AppendUint32(nil, uint32(r)))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("begin behind %d timesteps: %w", len(last), err)
	}
	maps.Copy(s.staging.gone, last)
	return nil
}

// RaiseRevisions raises revisions above those that another process has published: closed timesteps get
// the next revision and must be republished, other timesteps begin with it. It is for a store
// that takes over from that process.
func RaiseRevisions(s *Store, last map[lethe.Timestep]lethe.Revision) error {
	unknown, t := make(map[lethe.Timestep]lethe.Revision), transition{s, s.staging.change()}
	for _, at := range slices.Sorted(maps.Keys(last)) {
		if i := s.staging.Info(at); i.State == lethe.Open || i.Revision == 0 {
			unknown[at] = last[at]
		} else if err := t.raise(i, last[at]); err != nil {
			return fmt.Errorf("timestep %d: go behind revision %d: %w", at, last[at], err)
		}
	}
	if err := t.apply(); err != nil {
		return err
	}
	return ContinueRevisions(s, unknown)
}

// AdoptRevisions sets the revisions of closed timesteps to those under which another process has
// published the same content. It is for a store that takes over from that process.
func AdoptRevisions(s *Store, published map[lethe.Timestep]lethe.Revision) error {
	t := transition{s, s.staging.change()}
	for _, at := range slices.Sorted(maps.Keys(published)) {
		// Without a value: the timestep is not reopened.
		err := swapstore.Set(s.staging, timestepKey(kindRewriting, at), nil)
		if err != nil {
			return err
		}
		store, err := s.closed.Get(at)
		if err != nil {
			return err
		}
		d, err := store.Adopt(published[at])
		if err != nil {
			return errors.Join(err, s.closed.Close(at))
		}
		t.infos[at] = s.staging.Info(at).describedBy(d)
		t.drop(timestepKey(kindRewriting, at))
	}
	return t.apply()
}

// relink gives the next closed timestep after another one a new revision, because its predecessor
// changed.
func (t transition) relink(after lethe.Timestep) error {
	for _, i := range t.timesteps() {
		if i.Timestep <= after || i.State == lethe.Open {
			continue
		}
		return t.raise(i, 0)
	}
	return nil
}

// raise gives a closed timestep a new revision, above its own and above behind.
func (t transition) raise(i Info, behind lethe.Revision) error {
	if err := t.noteReopening(i.Timestep); err != nil {
		return err
	}
	store, err := t.store.closed.Get(i.Timestep)
	if err != nil {
		return err
	}
	d, err := store.Raise(behind)
	if err != nil {
		return errors.Join(err, t.store.closed.Close(i.Timestep))
	}
	i = i.describedBy(d)
	i.Reopened = i.Revision
	if i.State == lethe.Settled {
		i.Previous = t.settledBefore(i.Timestep)
	}
	t.infos[i.Timestep] = i
	t.drop(timestepKey(kindRewriting, i.Timestep))
	return nil
}

// noteReopening lets Open adopt the revision that a timestep's store is about to get, if the
// process crashes before the new info is stored.
func (t transition) noteReopening(at lethe.Timestep) error {
	return swapstore.Set(t.staging, timestepKey(kindRewriting, at), []byte{1})
}

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
	c := &Content{Info: i}
	store, err := s.closed.Get(t)
	if err == nil {
		c.Snapshot, err = store.Read()
	}
	if err == nil && i.State == lethe.Settled {
		c.Assignment, err = store.ReadAssigned(c.Snapshot)
	}
	if err != nil {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
	}
	return c, nil
}
