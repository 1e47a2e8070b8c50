package erase

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// rewriter deletes targets from the graphs.
type rewriter struct {
	store         *snapshot.Store
	publisher     *publish.Publisher
	repartitioner *repartitioner
	// publishMissing publishes deletions of timesteps and their changed successors.
	publishMissing func(context.Context) error
}

// Rewrite implements coordinator.Graphs.
func (e *rewriter) Rewrite(
	ctx context.Context, requests []lethe.Digest, targets []lethe.Target, replaced []coordinator.Replaced,
) error {
	for _, part := range entriesOf(replaced, e.publisher.Cutter.Shards) {
		entry := journal.Rewritten{Requests: requests}
		for _, r := range part {
			entry.Replaced = append(entry.Replaced, journal.Replaced(r))
		}
		err := e.publisher.Decisions.Decide(ctx, entry, func() error { return e.RewriteStore(ctx, targets, part) })
		if err != nil {
			return err
		}
	}
	if err := e.publishMissing(ctx); err != nil {
		return err
	}
	parts := make([]publish.Part, len(replaced))
	for i, r := range replaced {
		parts[i] = publish.Part{Info: e.store.Info(r.Timestep), Shards: r.Shards}
	}
	if err := e.publisher.Missing(ctx, parts); err != nil {
		return fmt.Errorf("publish what was rewritten: %w", err)
	}
	return nil
}

// entriesOf divides a rewriting into entries of the journal, at least one: each is one record.
func entriesOf(replaced []coordinator.Replaced, shards int) [][]coordinator.Replaced {
	if len(replaced) == 0 {
		return [][]coordinator.Replaced{nil}
	}
	return slices.Collect(slices.Chunk(replaced, max(1, publish.MostInAnEntry/shards)))
}

// RewriteStore deletes targets from the graphs. It can be repeated, also with other timesteps.
func (e *rewriter) RewriteStore(ctx context.Context, targets []lethe.Target, replaced []coordinator.Replaced) error {
	if err := e.store.Erase(ctx, targets); err != nil {
		return err
	}
	if err := e.repartition(ctx, replaced); err != nil {
		return err
	}
	return e.renew(ctx, replaced)
}

// repartition assigns the remaining transactions of some timesteps to the planned shards. Slices are published again
// even if no assignment changes: an earlier erasure at scope shard may have left stubs in them.
func (e *rewriter) repartition(ctx context.Context, replaced []coordinator.Replaced) error {
	var list []snapshot.Redeal
	for _, r := range replaced {
		info := e.store.Info(r.Timestep)
		if !r.Repartitioned || info.State != lethe.Settled {
			continue
		}
		stale, err := e.repartitioner.isStale(ctx, info)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", r.Timestep, err)
		}
		list = append(list, snapshot.Redeal{Timestep: r.Timestep, Renew: stale})
	}
	err := e.store.Repartition(ctx, list, func(s *lethe.Snapshot) ([]lethe.ShardID, error) {
		return e.repartitioner.plan(ctx, s)
	})
	if err == nil {
		e.repartitioner.forget()
	}
	return err
}

// renew gives a new revision to timesteps whose slices were replaced by a request that has ended: these slices have an
// older revision once another request replaces others of the timestep, and train is commanded to learn from the
// newest. A crash before that is stored causes one more revision.
func (e *rewriter) renew(ctx context.Context, replaced []coordinator.Replaced) error {
	for _, r := range replaced {
		info := e.store.Info(r.Timestep)
		if !r.Renewed || r.Revision > 0 || len(r.Shards) == 0 || info.State != lethe.Settled {
			continue
		}
		revision, _, err := publish.Manifest.Of(e.store, r.Timestep)
		if err == nil && revision < info.Revision {
			continue // the newest revision is still to be published, with these slices
		}
		var content *snapshot.Content
		if err == nil {
			content, err = e.store.Load(r.Timestep)
		}
		if err != nil {
			return err
		}
		stays := func(*lethe.Snapshot) ([]lethe.ShardID, error) { return content.Assignment, nil }
		if err := e.store.Repartition(ctx, []snapshot.Redeal{{Timestep: r.Timestep, Renew: true}}, stays); err != nil {
			return err
		}
	}
	return nil
}
