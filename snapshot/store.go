package snapshot

import (
	"errors"
	"fmt"
	"maps"

	"lethe"
)

// Store holds the timesteps of one deployment. One goroutine owns it.
//
// It has two parts, and its methods move timesteps from the one to the other:
// staging takes records until their timestep closes, and knows how far every
// timestep is; closed has a store for the graph of each closed timestep.
type Store struct {
	staging *staging
	closed  *storeCache
}

// Open opens the store in a folder, creating it when absent, and brings into
// order what a crash left half done. Errors: ErrIncompatible, ErrCorrupt, those
// of the options and those of the file system.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	closed, err := newStoreCache(o.FS, dir, o.OpenStores)
	if err != nil {
		return nil, err
	}
	staging, err := openStaging(o.FS.PathJoin(dir, stagingName), o)
	if err != nil {
		return nil, err
	}
	s := &Store{staging: staging, closed: closed}
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// Close closes the store. An open batch is lost.
func (s *Store) Close() error { return errors.Join(s.closed.closeAll(), s.staging.Close()) }

// Timesteps lists what is known, ascending, and the timesteps of which only
// payments or labels have arrived.
func (s *Store) Timesteps() []Info { return s.staging.timesteps() }

// Offsets tells where every topic partition is to be resumed: one after the
// last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.staging.offsets) }

// Ready lists the timesteps that may be closed now and those that may be
// settled now, each ascending. Closing may make more ready to settle.
func (s *Store) Ready() (toClose, toSettle []lethe.Timestep) {
	for _, i := range s.staging.timesteps() {
		switch {
		case !i.known():
		case i.State == lethe.Open && i.Timestep < s.staging.watermark(Transactions):
			toClose = append(toClose, i.Timestep)
		case i.State == lethe.Closed && i.Timestep < s.staging.watermark(Labels):
			toSettle = append(toSettle, i.Timestep)
		}
	}
	return toClose, toSettle
}

// due returns what is known of a timestep that is the first in ready, or that
// has reached the state already. Errors: ErrUnknownTimestep, ErrNotReady.
func (s *Store) due(t lethe.Timestep, state lethe.State, ready []lethe.Timestep) (i Info, reached bool, err error) {
	i = s.staging.info(t)
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
	i, closed, err := s.due(t, lethe.Closed, nil)
	if !closed {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
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
