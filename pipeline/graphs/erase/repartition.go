package erase

import (
	"context"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/partition/graph"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/graphs/publish"
	"lethe/snapshot"
)

// repartitioner partitions timesteps again. It caches a plan until it is executed, because partitioning takes long.
// Plans may be made concurrently.
type repartitioner struct {
	publisher *publish.Publisher
	mu        sync.Mutex
	planned   map[lethe.Digest]graph.Assignment
}

// plan returns the shards of a snapshot.
func (a *repartitioner) plan(ctx context.Context, s *lethe.Snapshot) (graph.Assignment, error) {
	digest := canonical.DigestSnapshot(s)
	a.mu.Lock()
	known, found := a.planned[digest]
	a.mu.Unlock()
	if found {
		return known, nil
	}
	assignment, _, err := cutting.Partitioned(ctx, s, a.publisher.Cutter.Partition)
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

// forget empties the cache.
func (a *repartitioner) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.planned = nil
}

// isStale reports whether partitioning a timestep again gives other slices than those published.
func (a *repartitioner) isStale(ctx context.Context, info snapshot.Info) (bool, error) {
	revision, _, err := publish.Manifest.Of(a.publisher.Store, info.Timestep)
	if err != nil || revision < info.Revision {
		return false, err // the newest revision is still to be published
	}
	content, err := a.publisher.Store.Load(info.Timestep)
	if err != nil {
		return false, err
	}
	changed, err := a.replaced(ctx, content.Snapshot, content.Info)
	return len(changed) > 0, err
}

// changed is affected at scope partition: the timestep is partitioned without the data of all requests, and its slices
// are compared with the published ones. All changes belong to every request with data in the timestep.
func (a *repartitioner) changed(
	ctx context.Context, content *snapshot.Content, requests []lethe.Removal,
) ([][]lethe.ShardID, error) {
	out := make([][]lethe.ShardID, len(requests))
	if content.Assignment == nil {
		return out, nil
	}
	changed, err := a.replaced(ctx, content.Snapshot.Removed(together(requests)), content.Info)
	for i, own := range requests {
		if !own.IsNothing() {
			out[i] = slices.Clone(changed)
		}
	}
	return out, err
}

// replaced returns the shards whose slices differ from the published ones once a snapshot is partitioned again.
func (a *repartitioner) replaced(
	ctx context.Context, s *lethe.Snapshot, info snapshot.Info,
) ([]lethe.ShardID, error) {
	assignment, err := a.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	_, others, err := a.publisher.Compare(&snapshot.Content{Info: info, Snapshot: s, Assignment: assignment})
	return others, err
}
