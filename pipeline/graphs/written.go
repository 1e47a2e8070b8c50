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
	"lethe/pipeline/graphs/settle"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// leadersTopics are those that the leader of graphs alone writes.
func leadersTopics() []bus.Topic {
	return []bus.Topic{bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log}
}

// written is what a fenced leader wrote late on topics that the leader alone writes.
type written struct {
	// standing is that of a process that shares the role, or nil.
	standing *role.Standing
	log      *translog.Log
	// late are the timesteps of which something was written late, with its newest revision.
	late   map[lethe.Timestep]lethe.Revision
	logger *slog.Logger
}

// take takes what stands on such a topic.
func (w *written) take(ctx context.Context, in role.Input, out translog.Writer, c *coordinator.Coordinator) error {
	switch source := in.Batch.Source; source.Topic {
	case bus.Log:
		// What stands before the epoch was compared with the log.
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

// again has timesteps of which something was written late published again, under a revision behind that.
func (w *written) again(ctx context.Context, store *snapshot.Store, timesteps *settle.Lifecycle) error {
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
	maps.DeleteFunc(late, func(_ lethe.Timestep, r lethe.Revision) bool { return r == 0 }) // deleted, and not there
	w.logger.Warn("graphs: a fenced leader wrote over what was published; it is published again",
		"timesteps", slices.Sorted(maps.Keys(late)))
	w.late = make(map[lethe.Timestep]lethe.Revision)
	return snapshot.GoBehind(store, late)
}
