package graphs

import (
	"context"
	"fmt"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// A store of graphs that was lost is made again from the source topics, which hold
// nothing of what was erased, or hold it suppressed. What other roles know has a
// revision, and they take nothing older: so timesteps that were replaced since they
// closed begin behind the last revision of theirs in the topics.

// beginBehind prepares a store that has taken nothing yet.
func beginBehind(ctx context.Context, topics Bus, store *snapshot.Store) error {
	last, err := lastRevisions(ctx, topics)
	if err != nil {
		return fmt.Errorf("revisions of the graphs in %s: %w", bus.Snapshots, err)
	}
	for t, r := range last {
		// What is not there is not to be deleted.
		if err := store.Marks().Put(mark(goneMark, t), markValue(r, nil)); err != nil {
			return err
		}
	}
	return snapshot.BeginBehind(store, last)
}

// lastRevisions returns the revisions of the graphs that were replaced since they closed.
func lastRevisions(ctx context.Context, topics Bus) (map[lethe.Timestep]lethe.Revision, error) {
	out := make(map[lethe.Timestep]lethe.Revision)
	err := topics.ReadAll(ctx, bus.Snapshots, func(rec ingest.Record) error {
		key, revision, found := wire.RevisionOf(rec)
		if found && revision > 1 {
			out[key.Timestep] = max(out[key.Timestep], revision)
		}
		return nil
	})
	return out, err
}
