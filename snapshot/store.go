package snapshot

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

const (
	stagingName   = "staging"
	formatVersion = 1
)

// Store holds the timesteps of one deployment. One goroutine owns it.
type Store struct {
	dir     string
	options Options
	staging *swapstore.Store
	stores  *storeCache

	// What follows mirrors staging.

	featureCount int
	infos        map[lethe.Timestep]Info
	offsets      map[TopicPartition]int64
	watermarks   map[Stream][]lethe.Timestep
	suppressed   map[lethe.Digest]struct{}
	rewriting    map[lethe.Timestep]struct{}

	// epoch counts what changed the store; a batch of an older one is stale.
	epoch int
}

// Open opens the store in a folder, creating it when absent, and brings into
// order what a crash left half done. Errors: ErrIncompatible, ErrCorrupt, those
// of the options and those of the file system.
func Open(dir string, o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	stores, err := newStoreCache(o.FS, dir, o.OpenStores)
	if err != nil {
		return nil, err
	}
	staging, err := swapstore.Open(o.FS, o.FS.PathJoin(dir, stagingName), swapstore.Format{})
	if err != nil {
		return nil, fmt.Errorf("open staging: %w", err)
	}
	s := &Store{dir: dir, options: o, staging: staging, stores: stores}
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *Store) recover() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	if err := s.sweep(); err != nil {
		return err
	}
	return s.finishRewriting()
}

// Close closes the store. An open batch is lost.
func (s *Store) Close() error {
	s.epoch++
	return errors.Join(s.stores.closeAll(), s.staging.Close())
}

// Timesteps lists what is known, ascending, and the timesteps of which only
// payments or labels have arrived.
func (s *Store) Timesteps() []Info {
	out := make([]Info, 0, len(s.infos))
	for _, t := range slices.Sorted(maps.Keys(s.infos)) {
		out = append(out, s.infos[t])
	}
	return out
}

// Offsets tells where every topic partition is to be resumed: one after the
// last stored record.
func (s *Store) Offsets() map[TopicPartition]int64 { return maps.Clone(s.offsets) }

// Watermark returns the lowest watermark of a stream's partitions: timesteps
// below it take no more records.
func (s *Store) Watermark(stream Stream) lethe.Timestep { return slices.Min(s.watermarks[stream]) }

// FeatureCount returns the number of features of every transaction, or 0 as
// long as it is not fixed.
func (s *Store) FeatureCount() int { return s.featureCount }

// Ready lists the timesteps that may be closed now and those that may be
// settled now, each ascending. Closing may make more ready to settle.
func (s *Store) Ready() (toClose, toSettle []lethe.Timestep) {
	for _, i := range s.Timesteps() {
		switch {
		case !i.known():
		case i.State == lethe.Open && i.Timestep < s.Watermark(Transactions):
			toClose = append(toClose, i.Timestep)
		case i.State == lethe.Closed && i.Timestep < s.Watermark(Labels):
			toSettle = append(toSettle, i.Timestep)
		}
	}
	return toClose, toSettle
}

// lookup returns where a transaction is.
func (s *Store) lookup(p lethe.Pseudonym) (indexEntry, bool, error) {
	value, found, err := s.staging.Get(pseudonymKey(kindIndex, p))
	if err != nil || !found {
		return indexEntry{}, false, err
	}
	e, err := decodeIndex(value)
	return e, err == nil, err
}
