package publish

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/translog"
	"lethe/snapshot"
)

// Resume publishes again what the journal asked for last, as whoever led then may not have come to it.
func (p *Publisher) Resume() error {
	timesteps, err := unsentOf(p.Store)
	for _, t := range timesteps {
		if err = p.again(t); err != nil {
			return fmt.Errorf("publish timestep %d again: %w", t, err)
		}
	}
	return err
}

// again publishes what the journal says is published of a timestep, if that is what the store has of it. Of a graph
// that was rewritten the slices that stayed as they were are no more what it gives; they were published before.
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
		return err // it is published otherwise
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

// CommitMissing has the log commit to what was published and is not committed to: a crash came between.
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

// Rewritten has timesteps published under the next revision that were rewritten and not published as they are: what an
// erasure has changed is else its coordinator's to publish.
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
	return snapshot.GoBehind(store, due)
}
