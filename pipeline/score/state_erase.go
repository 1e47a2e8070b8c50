package score

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
)

// suppress notes the erased ids' keyed hashes.
func (s *state) suppress(hashes []lethe.Digest) error {
	if !slices.ContainsFunc(hashes, func(d lethe.Digest) bool { return !s.suppressed[d] }) {
		return nil
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, d := range hashes {
			if err := w.Set(suppressedKey(d), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note suppressed transactions: %w", err)
	}
	for _, d := range hashes {
		s.suppressed[d] = true
	}
	return nil
}

// replaced reports whether everything the command replaces has arrived: the new
// graphs and manifests, and an ensemble that fits them.
func (s *state) replaced(command *wire.Command) bool {
	if !s.fits() {
		return false
	}
	for _, step := range command.Steps {
		if !s.stepReplaced(step) {
			return false
		}
	}
	// Candidates are kept only if it can be told that they are of the new
	// lineage.
	for c := range s.candidates {
		if _, known := s.lineages.At(c.timestep); !known {
			return false
		}
	}
	return true
}

// stepReplaced reports whether nothing that a timestep held before the erasure
// can still arrive.
func (s *state) stepReplaced(step wire.CommandStep) bool {
	t := step.Timestep
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
	// No ensemble that learnt from it is served yet, so the ensemble does not
	// tell whether the new models have come. The old ones are before them.
	want, known := s.lineages.At(t)
	for _, shard := range step.Shards {
		if !known || int(shard) >= len(want) || s.candidates[candidate{t, shard}] != want[shard] {
			return false
		}
	}
	return true
}

// purge writes the store anew, so that what was replaced or deleted is gone from
// the disk.
func (s *state) purge(ctx context.Context) error {
	stale := make(map[string]bool)
	for c, lineage := range s.candidates {
		if want, _ := s.lineages.At(c.timestep); want[c.shard] != lineage {
			stale[string(c.key())] = true
			delete(s.candidates, c)
		}
	}
	err := s.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if stale[string(key)] {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("rewrite store: %w", err)
	}
	return nil
}
