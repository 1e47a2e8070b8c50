package graphs

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/timesteps"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// leadersTopics are the topics that only the leader of graphs writes.
func leadersTopics() []bus.Topic {
	return []bus.Topic{bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log}
}

// overwritten tracks late records of a fenced leader on topics that only the leader writes.
type overwritten struct {
	// standing may be nil.
	standing *role.Standing
	log      *translog.Log
	// late are the timesteps of late records, with their newest revisions.
	late   map[lethe.Timestep]lethe.Revision
	logger *slog.Logger
}

// take reads records of such a topic.
func (w *overwritten) take(ctx context.Context, in role.Input, out translog.Writer, c *coordinator.Coordinator) error {
	switch source := in.Batch.Source; source.Topic {
	case bus.Log:
		// Records before the epoch were compared with the log at the start.
		records := slices.DeleteFunc(slices.Clone(in.Batch.Records), func(rec ingest.Record) bool {
			return rec.Offset < w.standing.Ended(source)
		})
		return w.log.PublishAgain(ctx, out, records)
	case bus.ErasureStatus:
		return c.PublishAgain(ctx, keysOf(in.Late))
	default:
		for _, rec := range in.Late {
			if key, revision, of := wire.PartOf(rec); of {
				w.late[key.Timestep] = max(w.late[key.Timestep], revision)
			}
		}
		return nil
	}
}

func keysOf(records []ingest.Record) (keys []string) {
	for _, rec := range records {
		keys = append(keys, string(rec.Key))
	}
	return keys
}

// republish gives timesteps of late records a higher revision, so that they are published again.
func (w *overwritten) republish(ctx context.Context, store *snapshot.Store, timesteps *timesteps.Lifecycle) error {
	if len(w.late) == 0 {
		return nil
	}
	if err := timesteps.End(ctx); err != nil {
		return err
	}
	gone, late := store.Gone(), w.late
	for t, r := range late {
		late[t] = max(r, store.Info(t).Revision, gone[t])
	}
	maps.DeleteFunc(late, func(_ lethe.Timestep, r lethe.Revision) bool { return r == 0 }) // a deletion of an unknown one
	w.logger.Warn("graphs: a fenced leader wrote over what was published; it is published again",
		"timesteps", slices.Sorted(maps.Keys(late)))
	w.late = make(map[lethe.Timestep]lethe.Revision)
	return store.Revisions().Raise(late)
}
