package publish

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
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
		same, _, err := p.compare(content)
		if err == nil {
			err = p.AddSlices(&d, content, same)
		}
		if err != nil {
			return err
		}
	}
	return p.write(&d)
}

// compare returns the shards of which a settled timestep gives the slices that were published last, and the others.
func (p *Publisher) compare(content *snapshot.Content) (same, others []lethe.ShardID, err error) {
	last, err := SlicesOf(p.Store, content.Info.Timestep, p.Cutter.Shards)
	if err != nil {
		return nil, nil, err
	}
	digests, err := p.Cutter.Digests(content.Snapshot, content.Info.Previous, content.Assignment)
	for i, digest := range digests {
		if digest == last[i] {
			same = append(same, lethe.ShardID(i))
		} else {
			others = append(others, lethe.ShardID(i))
		}
	}
	return same, others, err
}

// Others returns the shards of which a settled timestep gives other slices than those that were published last.
func (p *Publisher) Others(content *snapshot.Content) ([]lethe.ShardID, error) {
	_, others, err := p.compare(content)
	return others, err
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

// Last is what was published last of a timestep, by its digests.
func (p *Publisher) Last(t lethe.Timestep) (out deletions.Published, err error) {
	_, graph, err := Graph.Of(p.Store, t)
	if err != nil {
		return out, err
	}
	_, manifest, err := Manifest.Of(p.Store, t)
	if err != nil {
		return out, err
	}
	if len(graph) > 0 {
		out.Graph = graph[0]
	}
	if len(manifest) > p.Cutter.Shards {
		out.Slices, out.Manifest = manifest[:p.Cutter.Shards], manifest[p.Cutter.Shards]
	}
	return out, nil
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
