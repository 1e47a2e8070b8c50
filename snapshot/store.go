package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Store holds the timesteps of one deployment. One goroutine owns it.
//
// It has two parts, and its methods move timesteps from the one to the other:
// staging takes records until their timestep closes, and knows how far every
// timestep is; closed has a store for the graph of each closed timestep.
type Store struct {
	staging *staging
	closed  *storeCache
	// recent, if not nil, is the timestep that closed last: whoever had it closed loads it first. It is handed
	// over once.
	recent *Content
	// closing are the timesteps that close now, ascending.
	closing []*Closing
}

// Open opens the store in a folder, creating it when absent, and brings into
// order what a crash left half done. Errors: ErrIncompatible, ErrCorrupt,
// swapstore.ErrFormat, those of the options and those of the file system.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	closed, err := newStoreCache(o.FS, dir, o.OpenStores)
	if err != nil {
		return nil, err
	}
	if err := requireStaging(o.FS, dir); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", err)
	}
	staging, err := openStaging(o.FS.PathJoin(dir, stagingName), o)
	if err != nil {
		return nil, err
	}
	s := &Store{staging: staging, closed: closed}
	err = requireStores(staging, o.FS, dir)
	if err == nil {
		err = makeGood(s)
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Close closes the store. An open batch is lost.
func (s *Store) Close() error {
	abandon(s)
	return errors.Join(s.closed.closeAll(), s.staging.Close())
}

// Timesteps lists what is known, ascending, and the timesteps of which only
// payments or labels have arrived.
func (s *Store) Timesteps() []Info { return s.staging.timesteps() }

// Offsets tells where every topic partition is to be resumed: one after the
// last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.staging.offsets) }

// BeginBehind has the timesteps of a store begin with the revision after the given ones: they were
// published by a store that was lost. It is for a store that has taken nothing yet.
func BeginBehind(s *Store, last map[lethe.Timestep]lethe.Revision) error {
	err := s.staging.Apply(func(w swapstore.Writer) error {
		for t, r := range last {
			if err := w.Set(timestepKey(kindGone, t), binary.BigEndian.AppendUint32(nil, uint32(r))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("begin behind %d timesteps: %w", len(last), err)
	}
	maps.Copy(s.staging.gone, last)
	return nil
}

// GoBehind has timesteps of a store that follows another one go on behind revisions that the other
// has published: those that are closed here get the next one, and are to be published anew, and the
// others begin with it.
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

// AdoptRevisions gives closed timesteps of a store that follows another one the revisions that the
// other has published the same content under.
func AdoptRevisions(s *Store, published map[lethe.Timestep]lethe.Revision) error {
	t := transition{s, s.staging.change()}
	for _, at := range slices.Sorted(maps.Keys(published)) {
		// Without a value: it is not reopened.
		err := s.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, at), nil) })
		if err != nil {
			return err
		}
		store, err := s.closed.get(at)
		if err != nil {
			return err
		}
		m, err := store.adopt(published[at])
		if err != nil {
			return errors.Join(err, s.closed.close(at))
		}
		t.infos[at] = m.applyTo(s.staging.info(at))
		t.drop(timestepKey(kindRewriting, at))
	}
	return t.apply()
}

// relink gives the closed timestep after another a new revision, because that before
// it has changed.
func (t transition) relink(after lethe.Timestep) error {
	for _, i := range t.timesteps() {
		if i.Timestep <= after || i.State == lethe.Open {
			continue
		}
		return t.raise(i, 0)
	}
	return nil
}

// raise gives a closed timestep a new revision, behind another one.
func (t transition) raise(i Info, behind lethe.Revision) error {
	if err := t.noteReopening(i.Timestep); err != nil {
		return err
	}
	store, err := t.store.closed.get(i.Timestep)
	if err != nil {
		return err
	}
	m, err := store.raise(behind)
	if err != nil {
		return errors.Join(err, t.store.closed.close(i.Timestep))
	}
	i = m.applyTo(i)
	i.Reopened = i.Revision
	if i.State == lethe.Settled {
		i.Previous = t.settledBefore(i.Timestep)
	}
	t.infos[i.Timestep] = i
	t.drop(timestepKey(kindRewriting, i.Timestep))
	return nil
}

// noteReopening lets Open take over the revision that a timestep's store is about to
// get, if the process ends before it is noted otherwise.
func (t transition) noteReopening(at lethe.Timestep) error {
	return t.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, at), []byte{1}) })
}

// Ready lists the timesteps that may be closed now and those that may be
// settled now, each ascending. Closing may make more ready to settle. Nothing closes
// until the number of features is known (see TellFeatureCount), and nothing settles
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
		case i.State == lethe.Open && s.staging.featureCount > 0 && i.Timestep < s.staging.watermark(Transactions):
			toClose = append(toClose, i.Timestep)
		case i.State == lethe.Closed && !inserting && i.Timestep < s.staging.watermark(Labels):
			toSettle = append(toSettle, i.Timestep)
		}
	}
	return toClose, toSettle
}

// Gone lists the timesteps that an erasure emptied, with the revision that says so:
// they are to be deleted wherever they were published. One that late records bring
// back has a greater revision and is not listed any more.
func (s *Store) Gone() map[lethe.Timestep]lethe.Revision { return maps.Clone(s.staging.gone) }

// due returns what is known of a timestep that is the first in ready, or that
// has reached the state already. Errors: ErrUnknownTimestep, ErrNotReady.
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

// Load reads a closed or settled timestep. Errors: ErrUnknownTimestep, and
// ErrNotReady for an open one.
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
	store, err := s.closed.get(t)
	if err == nil {
		c.Snapshot, err = store.read()
	}
	if err == nil && i.State == lethe.Settled {
		c.Assignment, err = store.readAssigned(c.Snapshot)
	}
	if err != nil {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
	}
	return c, nil
}

// Marks is a small area for the owner's own bookkeeping, beside the offsets.
// Erase does not look into it: keys and values must hold no id, feature or other
// content of a record. It may be used from any goroutine; Put waits while Erase writes
// the files anew. What is beside timesteps and not of the owner (FixFeatureCount, HasContents, Carry)
// is the goroutine's alone that uses the Store.
type Marks struct{ staging *staging }

// Marks returns the owner's area.
func (s *Store) Marks() Marks { return Marks{s.staging} }

func markKey(key []byte) []byte { return append([]byte{kindMark}, key...) }

// Get returns a copy of the value under a key and whether there is one.
func (m Marks) Get(key []byte) (value []byte, found bool, err error) {
	return m.staging.Get(markKey(key))
}

// Watermarks returns a copy of the watermarks of a stream, by partition. It is for the goroutine that uses the Store.
func (m Marks) Watermarks(stream Stream) []lethe.Timestep {
	return slices.Clone(m.staging.watermarks[stream])
}

// Put stores a value under a key. It is durable when it returns.
func (m Marks) Put(key, value []byte) error { return m.PutAll([][]byte{key}, value) }

// PutAll stores a value under every key, in one write.
func (m Marks) PutAll(keys [][]byte, value []byte) error {
	rows := make([]Mark, len(keys))
	for i, key := range keys {
		rows[i] = Mark{key, value}
	}
	return m.PutEach(rows...)
}

// Mark is a key of the owner's area and its value.
type Mark struct{ Key, Value []byte }

// PutEach stores marks in one write.
func (m Marks) PutEach(marks ...Mark) error { return m.put(m.staging.Apply, marks) }

// PutUnsynced stores marks that are durable once anything is that is stored later.
func (m Marks) PutUnsynced(marks ...Mark) error {
	m.staging.epoch++
	return m.put(m.staging.ApplyUnsynced, marks)
}

func (m Marks) put(apply func(func(swapstore.Writer) error) error, marks []Mark) error {
	err := apply(func(w swapstore.Writer) error {
		for _, mark := range marks {
			if err := w.Set(markKey(mark.Key), mark.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}
