package score

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/quality"
	"lethe/trainer"
)

// state is what the role knows. All of it is in the store; what decisions need
// is in memory too. One goroutine uses it.
type state struct {
	store      role.Store
	links      map[lethe.Timestep]link
	revisions  map[lethe.Timestep]lethe.Revision // of the manifests
	lineages   *ensemble.Lineages
	candidates map[candidate]lethe.Digest // lineage
	served     *ensemble.Ensemble
	suppressed map[lethe.Digest]bool
	quality    map[lethe.Timestep]stepQuality
}

// readState reads what is in the store.
func readState(store role.Store, config trainer.Config, shards int) (*state, error) {
	s := &state{
		store:      store,
		links:      make(map[lethe.Timestep]link),
		revisions:  make(map[lethe.Timestep]lethe.Revision),
		lineages:   ensemble.NewLineages(config, shards),
		candidates: make(map[candidate]lethe.Digest),
		suppressed: make(map[lethe.Digest]bool),
		quality:    make(map[lethe.Timestep]stepQuality),
	}
	if err := s.load(shards); err != nil {
		return nil, fmt.Errorf("read store: %w", err)
	}
	return s, nil
}

// load reads the store into memory.
func (s *state) load(shards int) error {
	served := make(map[lethe.ShardID]*trainer.Checkpoint)
	readers := s.readers(served)
	for _, prefix := range slices.Sorted(maps.Keys(readers)) {
		if err := s.store.Scan([]byte(prefix), readers[prefix]); err != nil {
			return fmt.Errorf("keys under %q: %w", prefix, err)
		}
	}
	if err := s.loadQuality(); err != nil {
		return fmt.Errorf("keys under %q: %w", qualityPrefix, err)
	}
	if len(served) == 0 {
		return nil
	}
	models := make([]*trainer.Checkpoint, shards)
	for shard := range models {
		models[shard] = served[lethe.ShardID(shard)]
		if models[shard] == nil || len(served) != shards {
			return fmt.Errorf("served ensemble has %d models, but partition.shards is %d: "+
				"set it to the number the stream was begun with", len(served), shards)
		}
	}
	var err error
	s.served, err = ensemble.Of(models)
	return err
}

// readers take what the store holds, by the prefix of its keys. The models that
// are served go into the map.
func (s *state) readers(served map[lethe.ShardID]*trainer.Checkpoint) map[string]func(key, value []byte) error {
	return map[string]func(key, value []byte) error{
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
			if err == nil {
				s.learn(m, revision)
			}
			return err
		},
		candidatePrefix: func(key, value []byte) error {
			at, err := candidateOf(key)
			if err != nil {
				return err
			}
			c, err := trainer.DecodeCheckpoint(value)
			if err == nil {
				s.candidates[at] = c.Lineage
			}
			return err
		},
		servedPrefix: func(key, value []byte) error {
			c, err := trainer.DecodeCheckpoint(value)
			served[lethe.ShardID(binary.BigEndian.Uint32(key[len(servedPrefix):]))] = c
			return err
		},
		publishedPrefix: func(key, value []byte) error {
			t, err := timestepkey.Parse(publishedPrefix, key)
			if err != nil {
				return err
			}
			g, err := decodePublished(value)
			if err == nil {
				s.quality[t] = stepQuality{predictions: len(g.nodes)}
			}
			return err
		},
		suppressedPrefix: func(key, _ []byte) error {
			s.suppressed[lethe.Digest(key[len(suppressedPrefix):])] = true
			return nil
		},
	}
}

// loadQuality joins the stored summaries to the counts of predictions.
func (s *state) loadQuality() error {
	return s.store.Scan([]byte(qualityPrefix), func(key, value []byte) error {
		t, err := timestepkey.Parse(qualityPrefix, key)
		if err != nil {
			return err
		}
		q := s.quality[t]
		q.summary = &quality.Summary{}
		s.quality[t] = q
		return json.Unmarshal(value, q.summary)
	})
}

// learn takes a manifest into memory.
func (s *state) learn(m *wire.Manifest, revision lethe.Revision) {
	s.revisions[m.Timestep] = revision
	s.lineages.Learn(m.Timestep, m.Previous, m.Slices)
}

// offset returns where a partition is resumed.
func (s *state) offset(tp bus.TopicPartition) (int64, error) {
	value, found, err := s.store.Get(offsetKey(tp))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

func setOffset(w swapstore.Writer, tp bus.TopicPartition, next int64) error {
	return w.Set(offsetKey(tp), binary.BigEndian.AppendUint64(nil, uint64(next)))
}

// snapshot reads a snapshot that waits to be scored.
func (s *state) snapshot(t lethe.Timestep) (*lethe.Snapshot, error) {
	value, found, err := s.store.Get(timestepkey.New(snapshotPrefix, t))
	if err != nil {
		return nil, fmt.Errorf("waiting snapshot of timestep %d: %w", t, err)
	}
	if !found {
		return nil, fmt.Errorf("waiting snapshot of timestep %d is missing", t)
	}
	return canonical.DecodeSnapshot(value)
}

// published reads the probabilities published for a timestep, or nil.
func (s *state) published(t lethe.Timestep) (*published, error) {
	value, found, err := s.store.Get(timestepkey.New(publishedPrefix, t))
	if err != nil || !found {
		return nil, err
	}
	return decodePublished(value)
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
