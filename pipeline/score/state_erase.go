package score

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
)

// replaced reports whether all replacements of a command have arrived: graphs and manifests, a matching ensemble, and
// the models after it.
func (s *state) replaced(command *wire.Command) bool {
	if len(command.Steps) == 0 {
		return true
	}
	if !s.fits() {
		return false
	}
	for _, step := range command.Steps {
		if !s.stepReplaced(step) {
			return false
		}
	}
	// A candidate of another lineage is older than the erasure and will be replaced, or it matches a manifest that has
	// not arrived yet.
	for c, a := range s.models.candidates {
		if want, known := s.lineages.At(c.timestep); !known || int(c.shard) >= len(want) || want[c.shard] != a.lineage {
			return false
		}
	}
	return true
}

// stepReplaced reports whether no artefact of a timestep from before the erasure can still arrive.
func (s *state) stepReplaced(step wire.CommandStep) bool {
	t := step.Timestep
	if step.Gone {
		// It may have been created again since.
		at, known := s.links[t]
		revision, settled := s.revisions[t]
		return (!known || at.revision > step.Revision) && (!settled || revision > step.Revision)
	}
	if s.links[t].revision < step.Revision {
		return false
	}
	if !step.Settled {
		return true
	}
	if s.revisions[t] < step.Revision {
		return false
	}
	if s.models.served != nil && t <= s.models.served.Through {
		return true
	}
	// No ensemble that learnt from it is served yet, so the ensemble does not show whether the new models have arrived.
	// The old ones are before them.
	want, known := s.lineages.At(t)
	for _, shard := range step.Shards {
		if !known || int(shard) >= s.models.layout.Shards {
			return false
		}
		for _, number := range s.models.layout.ModelsOf(shard) {
			if s.models.candidates[candidate{t, number}].lineage != want[number] {
				return false
			}
		}
	}
	return true
}

// removeGone forgets deleted timesteps, and the models that were trained through them. The topics have tombstones of
// them too, which may be compacted before the role reads them.
func (s *state) removeGone(command *wire.Command) error {
	for _, step := range command.Steps {
		if !step.Gone {
			continue
		}
		t := step.Timestep
		var gone []wire.Key
		if at, known := s.links[t]; known && at.revision <= step.Revision {
			gone = append(gone, wire.Key{Kind: wire.KindSnapshot, Timestep: t})
		}
		if revision, settled := s.revisions[t]; settled && revision <= step.Revision {
			gone = append(gone, wire.Key{Kind: wire.KindManifest, Timestep: t})
		}
		for c, a := range s.models.candidates {
			if c.timestep == t && a.revision <= step.Revision {
				gone = append(gone, wire.Key{Kind: wire.KindModel, Timestep: t, Shard: c.shard})
			}
		}
		slices.SortFunc(gone, func(a, b wire.Key) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Shard, b.Shard))
		})
		for _, key := range gone {
			if err := s.forget(key, func(swapstore.Writer) {}); err != nil {
				return fmt.Errorf("forget %s: %w", key, err)
			}
		}
	}
	return nil
}

// forget deletes the state of a graph, a manifest or a model of a deleted timestep, together with another change.
func (s *state) forget(key wire.Key, with func(w swapstore.Writer)) error {
	t := key.Timestep
	c := candidate{t, key.Shard}
	var keys [][]byte
	switch key.Kind {
	case wire.KindSnapshot:
		for _, prefix := range []string{linkPrefix, snapshotPrefix, publishedPrefix, explainedPrefix} {
			keys = append(keys, timestepkey.New(prefix, t))
		}
	case wire.KindManifest:
		keys = append(keys, timestepkey.New(manifestPrefix, t))
	case wire.KindModel:
		keys = append(keys, c.key())
		if old := (model{c, s.models.candidates[c].digest}); !s.models.uses(old) {
			keys = append(keys, old.key())
		}
	default:
		return fmt.Errorf("there are no messages of kind %q", key.Kind)
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, key := range keys {
			w.Delete(key)
		}
		with(w)
		return nil
	})
	if err != nil {
		return err
	}
	switch key.Kind {
	case wire.KindSnapshot:
		delete(s.links, t)
		delete(s.recovered, t)
		s.scored = s.scored.Without(t)
		delete(s.quality, t)
	case wire.KindManifest:
		delete(s.revisions, t)
		s.lineages.Forget(t)
		if q, known := s.quality[t]; known {
			s.quality[t] = stepQuality{predictions: q.predictions}
		}
	default:
		delete(s.models.candidates, c)
	}
	return nil
}

// sweep deletes data of deleted timesteps, and graphs that are not needed: a process may have been killed between the
// state and the deletion. They may hold erased data.
func sweep(s *state) error {
	var left [][]byte
	for _, prefix := range []string{snapshotPrefix, publishedPrefix, explainedPrefix} {
		err := s.store.Scan([]byte(prefix), func(key, _ []byte) error {
			t, err := timestepkey.Parse(prefix, key)
			if k, known := s.links[t]; err == nil && (!known || prefix == snapshotPrefix && !k.waits()) {
				left = append(left, bytes.Clone(key))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("what is left under %q: %w", prefix, err)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return s.store.Apply(func(w swapstore.Writer) error {
		for _, key := range left {
			w.Delete(key)
		}
		return nil
	})
}
