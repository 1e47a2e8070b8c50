package graphs

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/coordinator"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/snapshot"
)

// partitioned deals the transactions of a labelled snapshot to shards. It depends on the
// snapshot and the configuration alone, on no other timestep.
func partitioned(
	ctx context.Context, s *lethe.Snapshot, c partition.Config,
) (graph.Assignment, partition.Report, error) {
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, partition.Report{}, err
	}
	c.Timestep, c.Nodes = s.Timestep, make([]lethe.Pseudonym, len(s.Nodes))
	for i, n := range s.Nodes {
		c.Nodes[i] = n.Pseudonym
	}
	return partition.Run(ctx, g, c)
}

// afresh partitions what is left of timesteps. What was planned is remembered until it is
// carried out, for it takes long. Plans are made side by side.
type afresh struct {
	config  partition.Config
	mu      sync.Mutex
	planned map[lethe.Digest]graph.Assignment
}

// plan returns the shards of a snapshot.
func (a *afresh) plan(ctx context.Context, s *lethe.Snapshot) (graph.Assignment, error) {
	digest := canonical.DigestSnapshot(s)
	a.mu.Lock()
	known, found := a.planned[digest]
	a.mu.Unlock()
	if found {
		return known, nil
	}
	assignment, _, err := partitioned(ctx, s, a.config)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.planned == nil {
		a.planned = make(map[lethe.Digest]graph.Assignment)
	}
	a.planned[digest] = assignment
	return assignment, nil
}

// forget drops what was planned.
func (a *afresh) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.planned = nil
}

// repartition gives the transactions that stay in some timesteps the shards that were
// planned. An earlier erasure at scope shard may have left stubs in slices that stayed as
// they were: they are published anew even if everybody stays in his shard.
func (e *eraser) repartition(ctx context.Context, replaced []coordinator.Replaced) error {
	var list []snapshot.Redeal
	infos := e.infos()
	for _, r := range replaced {
		info := infos[r.Timestep]
		if !r.Afresh || info.State != lethe.Settled {
			continue
		}
		stale, err := e.isStale(ctx, info)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", r.Timestep, err)
		}
		list = append(list, snapshot.Redeal{Timestep: r.Timestep, Renew: stale})
	}
	err := e.store.Repartition(ctx, list, func(s *lethe.Snapshot) ([]lethe.ShardID, error) {
		return e.afresh.plan(ctx, s)
	})
	if err == nil {
		e.afresh.forget()
	}
	return err
}

// renew gives timesteps a new revision of which a request that has ended has replaced slices: those stand under an
// older one once another request has replaced others of the timestep, and who learns from them is asked for the newest.
// Killed before that is noted, it gives them one more.
func (p *publisher) renew(ctx context.Context, replaced []coordinator.Replaced) error {
	infos := infosOf(p.store)
	for _, r := range replaced {
		info := infos[r.Timestep]
		if !r.Anew || r.Revision > 0 || len(r.Shards) == 0 || info.State != lethe.Settled {
			continue
		}
		revision, _, err := p.published(manifestMark, r.Timestep)
		if err == nil && revision < info.Revision {
			continue // the newest revision is still to be published, with these slices
		}
		var content *snapshot.Content
		if err == nil {
			content, err = p.store.Load(r.Timestep)
		}
		if err != nil {
			return err
		}
		stays := func(*lethe.Snapshot) ([]lethe.ShardID, error) { return content.Assignment, nil }
		if err := p.store.Repartition(ctx, []snapshot.Redeal{{Timestep: r.Timestep, Renew: true}}, stays); err != nil {
			return err
		}
	}
	return nil
}

// isStale reports whether what was published of the newest revision of a timestep is not
// what partitioning it afresh gives.
func (e *eraser) isStale(ctx context.Context, info snapshot.Info) (bool, error) {
	revision, _, err := e.publisher.published(manifestMark, info.Timestep)
	if err != nil || revision < info.Revision {
		return false, err // the newest revision is still to be published
	}
	content, err := e.store.Load(info.Timestep)
	if err != nil {
		return false, err
	}
	changed, err := e.replacedAfresh(ctx, content.Snapshot, content.Info)
	return len(changed) > 0, err
}

// changedAfresh is cut.changed at scope partition: without what all requests take out the
// timestep is partitioned afresh, and its slices are compared with those that were published
// last. All that change are of every request that takes something there.
func (e *eraser) changedAfresh(
	ctx context.Context, content *snapshot.Content, requests []lethe.Removal,
) ([][]lethe.ShardID, error) {
	out := make([][]lethe.ShardID, len(requests))
	if content.Assignment == nil {
		return out, nil
	}
	rest, _ := without(content, together(requests))
	changed, err := e.replacedAfresh(ctx, rest, content.Info)
	for i, own := range requests {
		if !own.IsNothing() {
			out[i] = slices.Clone(changed)
		}
	}
	return out, err
}

// replacedAfresh returns the shards whose slice is not the published one once a snapshot is
// partitioned afresh.
func (e *eraser) replacedAfresh(
	ctx context.Context, s *lethe.Snapshot, info snapshot.Info,
) (out []lethe.ShardID, err error) {
	assignment, err := e.afresh.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	digests, err := e.publisher.cut.digests(s, info.Previous, assignment)
	if err != nil {
		return nil, err
	}
	published := make([]lethe.Digest, len(digests))
	if err := e.publisher.lastDigests(info.Timestep, published); err != nil {
		return nil, err
	}
	for i, digest := range digests {
		if digest != published[i] {
			out = append(out, lethe.ShardID(i))
		}
	}
	return out, nil
}

// PlanAfresh implements coordinator.Graphs.
func (e *eraser) PlanAfresh(ctx context.Context, timesteps []lethe.Timestep) (out []coordinator.Replaced, err error) {
	infos := e.infos()
	for _, t := range timesteps {
		if infos[t].State != lethe.Settled {
			continue
		}
		content, err := e.store.Load(t)
		if err != nil {
			return nil, err
		}
		shards, err := e.replacedAfresh(ctx, content.Snapshot, content.Info)
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", t, err)
		}
		if len(shards) > 0 {
			out = append(out, coordinator.Replaced{Timestep: t, Shards: shards})
		}
	}
	return out, nil
}
