package graphs

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
)

// leaveOutShared leaves out the feature rows that a transaction that stays has
// too: finding them says nothing. The receipt names their kinds.
func (e *eraser) leaveOutShared(plan *coordinator.Plan, erased map[lethe.Pseudonym]bool) error {
	searched := make(map[scan.Fingerprint]bool)
	for _, f := range plan.Fingerprints {
		if f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText {
			searched[f] = true
		}
	}
	shared := make(map[scan.Fingerprint]bool)
	for _, info := range e.store.Timesteps() {
		if info.State == lethe.Open || len(searched) == 0 {
			continue
		}
		content, err := e.store.Load(info.Timestep)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", info.Timestep, err)
		}
		if err := e.markShared(content.Snapshot, erased, searched, shared); err != nil {
			return fmt.Errorf("timestep %d: %w", info.Timestep, err)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	plan.Fingerprints = slices.DeleteFunc(plan.Fingerprints, func(f scan.Fingerprint) bool { return shared[f] })
	plan.NotSearched = sortedset.Add(plan.NotSearched, scan.KindFeatures, scan.KindFeaturesText)
	return nil
}

// markShared notes the rows that a transaction beside the erased ones has.
func (e *eraser) markShared(
	s *lethe.Snapshot, erased map[lethe.Pseudonym]bool, searched, shared map[scan.Fingerprint]bool,
) error {
	for i, n := range s.Nodes {
		if erased[n.Pseudonym] {
			continue
		}
		prints, err := scan.RowFingerprints(e.secret, s.Row(i))
		if err != nil {
			return err
		}
		for _, f := range prints {
			if searched[f] {
				shared[f] = true
			}
		}
	}
	return nil
}
