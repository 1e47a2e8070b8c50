package score

import (
	"fmt"
	"slices"

	"lethe/internal/swapstore"
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
	for c, a := range s.candidates {
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
	if s.served != nil && t <= s.served.Through {
		return true
	}
	// No ensemble that learnt from it is served yet, so the ensemble does not show whether the new models have arrived.
	// The old ones are before them.
	want, known := s.lineages.At(t)
	for _, shard := range step.Shards {
		if !known || int(shard) >= s.layout.Shards {
			return false
		}
		for _, number := range s.layout.ModelsOf(shard) {
			if s.candidates[candidate{t, number}].lineage != want[number] {
				return false
			}
		}
	}
	return true
}

// forgetCandidates deletes candidates from the store, but not their files.
func forgetCandidates(w swapstore.Writer, gone []candidate) {
	for _, c := range gone {
		w.Delete(c.key())
	}
}

// unlinkStale unlinks the models that are neither candidates nor kept.
func (s *state) unlinkStale() error {
	var stale [][]byte
	err := s.store.Scan([]byte(modelPrefix), func(key, _ []byte) error {
		m, err := modelOf(key)
		if err == nil && s.candidates[m.candidate].digest != m.digest && !slices.Contains(s.servedModels, m) &&
			!s.pins.hold(m) {
			stale = append(stale, m.key())
		}
		return err
	})
	if err == nil && len(stale) > 0 {
		err = s.store.Apply(func(w swapstore.Writer) error {
			for _, key := range stale {
				w.Delete(key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("remove models: %w", err)
	}
	return nil
}
