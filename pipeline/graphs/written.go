package graphs

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/settle"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// leadersTopics are those that the leader of graphs alone writes. A fenced leader that hung in the midst of a write may
// still write there. Readers leave that out, but compaction would remove what stood under its key. So the leader reads
// these topics too, and publishes that again.
func leadersTopics() []bus.Topic {
	return []bus.Topic{bus.Snapshots, bus.Slices, bus.ErasureStatus, bus.Log}
}

// written is what the leader reads of these topics.
type written struct {
	leaders *wire.Leaders
	from    map[bus.TopicPartition]int64
	// late are the timesteps of which something was written late, with its newest revision.
	late   map[lethe.Timestep]lethe.Revision
	logger *slog.Logger
}

// readWritten prepares to read the topics, for a process that has begun an epoch.
func readWritten(ctx context.Context, o Options) (*written, error) {
	from, err := o.standing.Unnoted(ctx, o.Bus, leadersTopics()...)
	for source := range from {
		if source.Topic == bus.Log {
			from[source] = o.standing.Ended(source) // what stands before was compared with the log
		}
	}
	return &written{o.leaders, from, make(map[lethe.Timestep]lethe.Revision), o.Logger}, err
}

// take takes what stands on a topic that the leader alone writes.
func (w *written) take(ctx context.Context, batch bus.Batch, c *coordinator.Coordinator) error {
	if batch.Source.Topic == bus.Log {
		return c.LogAgain(ctx, batch.Records)
	}
	var statuses []string
	for _, rec := range batch.Records {
		if !w.leaders.Stale(batch.Source.Topic, rec) {
			continue
		}
		if key, revision, of := wire.PartOf(rec); of {
			w.late[key.Timestep] = max(w.late[key.Timestep], revision)
		} else {
			statuses = append(statuses, string(rec.Key))
		}
	}
	return c.TellAgain(ctx, statuses)
}

// again has timesteps of which something was written late published again, under a revision behind that.
func (w *written) again(ctx context.Context, store *snapshot.Store, timesteps *settle.Lifecycle) error {
	if w == nil || len(w.late) == 0 {
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
