package publish

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/translog"
	"lethe/snapshot"
)

// Resume publishes the artefacts of the last entries again: the previous leader may not have published them.
func (p *Publisher) Resume() error {
	timesteps, err := unsentOf(p.Store)
	for _, t := range timesteps {
		if err = p.again(t); err != nil {
			return fmt.Errorf("publish timestep %d again: %w", t, err)
		}
	}
	return err
}

// again publishes the artefacts of a timestep that its marks name, if the store has them. Slices that an erasure left
// as they were do not follow from the rewritten graph; they were published before.
func (p *Publisher) again(t lethe.Timestep) error {
	gone, _, err := Gone.Of(p.Store, t)
	if err != nil || gone > 0 && p.Store.Gone()[t] == gone {
		if err != nil {
			return err
		}
		return p.delete(t, gone)
	}
	graph, _, err := Graph.Of(p.Store, t)
	if err != nil {
		return err
	}
	manifest, _, err := Manifest.Of(p.Store, t)
	info := p.Store.Info(t)
	if err != nil || info.State == lethe.Open || info.Revision != max(graph, manifest) {
		return err // it will be published under another revision
	}
	content, err := p.Store.Load(t)
	if err != nil {
		return err
	}
	var d Dispatch
	if graph == info.Revision {
		p.AddGraph(&d, content)
	}
	if manifest == info.Revision && info.State == lethe.Settled {
		same, _, err := p.Compare(content)
		if err == nil {
			err = p.AddSlices(&d, content, same)
		}
		if err != nil {
			return err
		}
	}
	return p.write(&d)
}

// CommitMissing adds leaves that a crash prevented.
func (p *Publisher) CommitMissing() error {
	var list []translog.Leaf
	for _, info := range p.Store.Timesteps() {
		revision, digests, err := Manifest.Of(p.Store, info.Timestep)
		if err != nil {
			return err
		}
		if info.State == lethe.Settled && revision > 0 {
			list = append(list, p.leaves(info.Timestep, revision, digests)...)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(p.Store.Gone())) {
		revision, _, err := Gone.Of(p.Store, t)
		if err != nil {
			return err
		}
		if revision > 0 {
			list = append(list, p.leaves(t, revision, make([]lethe.Digest, p.Cutter.Shards))...)
		}
	}
	return p.commit(list)
}

// Rewritten gives rewritten timesteps that are not published the next revision, so that they will be. Otherwise the
// coordinator of the erasure would have to publish them.
func Rewritten(store *snapshot.Store) error {
	due := make(map[lethe.Timestep]lethe.Revision)
	for _, info := range store.Timesteps() {
		graph, _, err := Graph.Of(store, info.Timestep)
		if err != nil {
			return err
		}
		manifest, _, err := Manifest.Of(store, info.Timestep)
		if err != nil {
			return err
		}
		if info.State > lethe.Open && info.Reopened < info.Revision &&
			(graph < info.Revision || info.State == lethe.Settled && manifest < info.Revision) {
			due[info.Timestep] = info.Revision
		}
	}
	return store.Revisions().Raise(due)
}
