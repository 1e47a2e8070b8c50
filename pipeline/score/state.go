package score

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/published"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
)

// state is the role's state. All of it is in the store; a part is in memory too. One goroutine uses it.
type state struct {
	store     role.Store
	links     stream
	revisions map[lethe.Timestep]lethe.Revision // of the manifests
	lineages  *ensemble.Lineages
	models    *models
	hidden    *hidden
	quality   map[lethe.Timestep]stepQuality
	// scored are the timesteps that the journal has as scored, without those that were read since. New ones of them are
	// passed over: the folder was lost, or their graphs were replaced before this process read them.
	scored journal.Timesteps
	// awaits is the timestep of the ensemble that the journal has as served, and that is served again; or NoTimestep.
	awaits lethe.Timestep
	// recovered are the final predictions, by timestep, that a lost folder had.
	recovered map[lethe.Timestep]*published.Step
}

// readState reads the state from the store.
func readState(store role.Store, layout ensemble.Layout, over *meta.Config) (*state, error) {
	s := &state{
		store:     store,
		links:     make(stream),
		revisions: make(map[lethe.Timestep]lethe.Revision),
		lineages:  ensemble.NewLineages(layout, over),
		models:    newModels(store, layout, over),
		hidden:    newHidden(store),
		quality:   make(map[lethe.Timestep]stepQuality),
		awaits:    lethe.NoTimestep,
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("read store: %w", err)
	}
	return s, nil
}

// load reads the store into memory.
func (s *state) load() error {
	readers := s.readers()
	if err := s.store.Scan([]byte(linkPrefix), readers[linkPrefix]); err != nil {
		return fmt.Errorf("keys under %q: %w", linkPrefix, err)
	}
	delete(readers, linkPrefix)
	if err := sweep(s); err != nil {
		return err
	}
	for _, prefix := range slices.Sorted(maps.Keys(readers)) {
		if err := s.store.Scan([]byte(prefix), readers[prefix]); err != nil {
			return fmt.Errorf("keys under %q: %w", prefix, err)
		}
	}
	if err := s.models.loadServed(); err != nil {
		return err
	}
	// A crash may have left unused models.
	return s.models.unlinkStale()
}

// readers read the store, by prefix of the keys.
func (s *state) readers() map[string]func(key, value []byte) error {
	out := map[string]func(key, value []byte) error{
		linkPrefix: func(key, value []byte) error {
			t, err := timestepkey.Parse(linkPrefix, key)
			if err != nil {
				return err
			}
			s.links[t], err = decodeLink(value)
			return err
		},
		manifestPrefix: func(_, value []byte) error {
			revision, message, err := splitRevision(value)
			if err != nil {
				return err
			}
			m, err := wire.DecodeManifest(message)
			if err == nil && len(m.Slices) != s.models.layout.Shards {
				return fmt.Errorf("there are %d shards, but partition.shards is %d: "+
					"set it to the number the stream was begun with", len(m.Slices), s.models.layout.Shards)
			}
			if err == nil {
				s.learn(m, revision)
			}
			return err
		},
		publishedPrefix: func(key, value []byte) error {
			t, err := timestepkey.Parse(publishedPrefix, key)
			if err != nil {
				return err
			}
			g, err := published.Decode(value)
			if err == nil {
				s.quality[t] = stepQuality{predictions: g.Count()}
			}
			return err
		},
	}
	maps.Copy(out, s.models.readers())
	maps.Copy(out, s.hidden.readers())
	return out
}

// learn adds a manifest to memory.
func (s *state) learn(m *wire.Manifest, revision lethe.Revision) {
	s.revisions[m.Timestep] = revision
	s.lineages.Learn(m.Timestep, m.Previous, m.Slices)
}

// offsetOf returns the offset to resume a partition from.
func offsetOf(store role.Store, tp bus.TopicPartition) (int64, error) {
	value, found, err := store.Get(offsetKey(tp))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// readOffsets reads the offsets to resume from.
func readOffsets(store swapstore.Reader, into map[bus.TopicPartition]int64) error {
	return store.Scan([]byte(offsetPrefix), func(key, value []byte) error {
		name := strings.TrimPrefix(string(key), offsetPrefix)
		at := strings.LastIndexByte(name, '/')
		partition, err := strconv.Atoi(name[at+1:])
		if at < 0 || err != nil || len(value) != 8 {
			return fmt.Errorf("%w: position of %q", swapstore.ErrCorrupt, name)
		}
		into[bus.TopicPartition{Topic: bus.Topic(name[:at]), Partition: partition}] = int64(binary.BigEndian.Uint64(value))
		return nil
	})
}

func setOffset(w swapstore.Writer, tp bus.TopicPartition, next int64) {
	w.Set(offsetKey(tp), binary.BigEndian.AppendUint64(nil, uint64(next)))
}

func storeOffset(store role.Store, tp bus.TopicPartition, next int64) error {
	return store.Apply(func(w swapstore.Writer) error {
		setOffset(w, tp, next)
		return nil
	})
}

// snapshot reads a snapshot that waits to be scored.
func (s *state) snapshot(t lethe.Timestep) (*lethe.Snapshot, error) {
	message, found, err := s.store.Get(timestepkey.New(snapshotPrefix, t))
	if err == nil && !found {
		err = errors.New("it is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("waiting snapshot of timestep %d: %w", t, err)
	}
	return canonical.DecodeSnapshot(message)
}

// published reads the probabilities published for a timestep, or nil.
func (s *state) published(t lethe.Timestep) (*published.Step, error) {
	value, found, err := s.store.Get(timestepkey.New(publishedPrefix, t))
	if err != nil || !found {
		return nil, err
	}
	return published.Decode(value)
}

// manifest reads the manifest of a timestep, or nil.
func (s *state) manifest(t lethe.Timestep) (*wire.Manifest, error) {
	value, found, err := s.store.Get(timestepkey.New(manifestPrefix, t))
	if err != nil || !found {
		return nil, err
	}
	_, message, err := splitRevision(value)
	if err != nil {
		return nil, err
	}
	return wire.DecodeManifest(message)
}
