package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/suppressed"
)

// Store holds the timesteps of one deployment. One goroutine owns it.
//
// It has two parts: staging holds records until their timestep closes, and the state of every
// timestep; closed has a store for the graph of each closed timestep.
type Store struct {
	staging *staging
	closed  *closed.Graphs
	// recent, if not nil, is the timestep that closed last, because its owner loads it first. Load returns it once.
	recent *Content
	// closing are the timesteps that are closing, ascending.
	closing []*Closing
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
	s := &Store{staging: staging, closed: graphs}
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

// Timesteps lists the known timesteps, and those of which only payments or labels have arrived,
// ascending.
func (s *Store) Timesteps() []Info { return s.staging.timesteps() }

// Offsets returns where to resume every topic partition: one after the last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.staging.offsets) }

// BeginBehind makes timesteps begin with the revision after the given ones, which a lost store
// published. The store must be empty.
func BeginBehind(s *Store, last map[lethe.Timestep]lethe.Revision) error {
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

// GoBehind raises revisions above those that another process has published: closed timesteps get
// the next revision and must be republished, other timesteps begin with it. It is for a store
// that takes over from that process.
func GoBehind(s *Store, last map[lethe.Timestep]lethe.Revision) error {
	unknown, t := make(map[lethe.Timestep]lethe.Revision), transition{s, s.staging.change()}
	for _, at := range slices.Sorted(maps.Keys(last)) {
		if i := s.staging.info(at); i.State == lethe.Open || i.Revision == 0 {
			unknown[at] = last[at]
		} else if err := t.raise(i, last[at]); err != nil {
			return fmt.Errorf("timestep %d: go behind revision %d: %w", at, last[at], err)
		}
	}
	if err := t.apply(); err != nil {
		return err
	}
	return BeginBehind(s, unknown)
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
		t.infos[at] = s.staging.info(at).describedBy(d)
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

// Ready lists the timesteps that may be closed now and those that may be
// settled now, each ascending. Closing may make more ready to settle. Nothing settles
// before an earlier timestep that waits to be inserted (see Waiting).
func (s *Store) Ready() (toClose, toSettle []lethe.Timestep) {
	infos := s.staging.timesteps()
	newest := newestOf(infos, lethe.Closed)
	inserting := false
	for _, i := range infos {
		switch {
		case !i.known():
		case i.State == lethe.Open && i.Timestep < newest:
			inserting = true
		case i.State == lethe.Open && i.Timestep < s.staging.watermark(Transactions):
			toClose = append(toClose, i.Timestep)
		case i.State == lethe.Closed && !inserting && i.Timestep < s.staging.watermark(Labels):
			toSettle = append(toSettle, i.Timestep)
		}
	}
	return toClose, toSettle
}

// Gone lists the timesteps that an erasure emptied, with the revision under which they were
// deleted: they must be deleted wherever they were published. A timestep that late records bring
// back has a higher revision and is no longer listed.
func (s *Store) Gone() map[lethe.Timestep]lethe.Revision { return maps.Clone(s.staging.gone) }

// due returns the info of a timestep that is first in ready, or has already reached the state.
// Errors: ErrUnknownTimestep, ErrNotReady.
func (s *staging) due(t lethe.Timestep, state lethe.State, ready []lethe.Timestep) (i Info, reached bool, err error) {
	i = s.info(t)
	switch {
	case !i.known():
		return i, false, ErrUnknownTimestep
	case i.State >= state:
		return i, true, nil
	case len(ready) == 0 || ready[0] != t:
		return i, false, fmt.Errorf("%w to be %s", ErrNotReady, state)
	}
	return i, false, nil
}

// Suppressed returns the list of erased targets.
func (s *Store) Suppressed() *suppressed.List { return s.staging.suppressed }

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

// Info returns the state and size of a timestep; one that is not known is open and empty.
func (s *Store) Info(t lethe.Timestep) Info { return s.staging.info(t) }
