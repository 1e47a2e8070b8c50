package publish

import (
	"fmt"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Adopt stores the marks of an entry. A timestep that differs here, because compaction has deleted records, gets a
// higher revision, which is published if this process becomes the leader.
func (p *Publisher) Adopt(d journal.TimestepsChanged) error {
	behind, same := make(map[lethe.Timestep]lethe.Revision), make(map[lethe.Timestep]lethe.Revision)
	type digestOf = func(journal.Artefact, *snapshot.Content) (lethe.Digest, error)
	compare := func(list []journal.Artefact, digest digestOf) error {
		for _, a := range list {
			var own lethe.Digest // zero if the store has none
			info := p.Store.Info(a.Timestep)
			if info.State > lethe.Open {
				content, err := p.Store.Load(a.Timestep)
				if err == nil {
					own, err = digest(a, content)
				}
				if err != nil {
					return fmt.Errorf("timestep %d: %w", a.Timestep, err)
				}
			}
			switch {
			case own != a.Digest:
				behind[a.Timestep] = max(info.Revision, a.Revision)
			case info.Revision < a.Revision:
				same[a.Timestep] = a.Revision
			}
		}
		return nil
	}
	err := compare(d.Graphs, func(_ journal.Artefact, content *snapshot.Content) (lethe.Digest, error) {
		return p.AddGraph(new(Dispatch), content), nil
	})
	if err == nil {
		err = compare(d.Manifests, p.manifestDigest)
	}
	if err != nil {
		return err
	}
	gone := p.Store.Gone()
	for _, a := range d.Removed {
		if info := p.Store.Info(a.Timestep); info.State > lethe.Open || gone[a.Timestep] < a.Revision {
			behind[a.Timestep] = a.Revision
		}
	}
	for t := range behind {
		delete(same, t)
	}
	if len(same) > 0 {
		err = p.Store.Revisions().Adopt(same)
	}
	if err == nil && len(behind) > 0 {
		err = p.Store.Revisions().Raise(behind)
	}
	if err == nil {
		err = p.Store.Marks().PutUnsynced(MarksOf(d)...)
	}
	return err
}
