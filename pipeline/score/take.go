package score

import (
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// takeMessages stores what arrived on a topic of graphs or models.
func (r *Role) takeMessages(reader *wire.Reader, batch bus.Batch) error {
	messages, err := reader.Read(batch)
	if err != nil {
		return err
	}
	for _, m := range messages {
		switch m.Key.Kind {
		case wire.KindSnapshot:
			err = r.takeSnapshot(batch.Source, m)
		case wire.KindManifest:
			err = r.takeManifest(batch.Source, m)
		case wire.KindModel:
			err = r.takeModel(batch.Source, m)
		default:
			err = fmt.Errorf("%s does not carry messages of kind %q", batch.Source, m.Key.Kind)
		}
		if err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	return nil
}

// takeSnapshot stores a graph until it is scored. A later revision of a graph
// that was scored already changes no prediction: those of erased transactions
// are dropped from what is measured, and everything else stands as it was
// decided then.
func (r *Role) takeSnapshot(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, exists := r.state.links[t]
	if exists && known.revision >= m.Revision {
		return r.state.store.Apply(func(w swapstore.Writer) error { return setOffset(w, source, m.Next) })
	}
	snapshot, err := canonical.DecodeSnapshot(m.Payload)
	if err != nil {
		return err
	}
	next := link{revision: m.Revision, previous: m.Previous, done: known.done}
	kept, dropped := (*given)(nil), false
	if known.done {
		before, err := r.state.given(t)
		if err != nil {
			return err
		}
		if before != nil {
			kept, dropped = before.only(snapshot)
		}
	}
	err = r.state.store.Apply(func(w swapstore.Writer) error {
		if !next.done {
			if err := w.Set(timestepKey(snapshotPrefix, t), m.Payload); err != nil {
				return err
			}
		}
		if dropped {
			if err := w.Set(timestepKey(givenPrefix, t), kept.encode()); err != nil {
				return err
			}
			if err := w.Delete(timestepKey(qualityPrefix, t)); err != nil {
				return err
			}
		}
		if err := w.Set(timestepKey(linkPrefix, t), next.encode()); err != nil {
			return err
		}
		return setOffset(w, source, m.Next)
	})
	if err != nil {
		return err
	}
	r.state.links[t] = next
	if dropped {
		return r.measure(t)
	}
	return nil
}

// takeManifest stores a manifest and, if its timestep was scored, measures the
// predictions against the labels it brings.
func (r *Role) takeManifest(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	fresh := r.state.revisions[t] < m.Revision
	var manifest *wire.Manifest
	if fresh {
		var err error
		if manifest, err = wire.DecodeManifest(m.Payload); err != nil {
			return err
		}
		if len(manifest.Slices) != r.o.Shards {
			return fmt.Errorf("manifest names %d slices, but partition.shards is %d: give the number that the stream was begun with",
				len(manifest.Slices), r.o.Shards)
		}
	}
	err := r.state.store.Apply(func(w swapstore.Writer) error {
		if fresh {
			if err := w.Set(timestepKey(manifestPrefix, t), withRevision(m.Revision, m.Payload)); err != nil {
				return err
			}
			if err := w.Delete(timestepKey(qualityPrefix, t)); err != nil {
				return err
			}
		}
		return setOffset(w, source, m.Next)
	})
	if err != nil || !fresh {
		return err
	}
	r.state.learn(manifest, m.Revision)
	return r.measure(t)
}

// takeModel stores a checkpoint that an ensemble may need.
func (r *Role) takeModel(source bus.TopicPartition, m wire.Received) error {
	c := candidate{m.Key.Timestep, m.Key.Shard}
	if int(c.shard) >= r.o.Shards {
		return fmt.Errorf("partition.shards is %d: give the number that the stream was begun with", r.o.Shards)
	}
	// An ensemble older than the served one is never asked for again.
	wanted := r.state.served == nil || c.timestep >= r.state.served.Through
	var lineage lethe.Digest
	if wanted {
		checkpoint, err := trainer.DecodeCheckpoint(m.Payload)
		if err != nil {
			return err
		}
		lineage = checkpoint.Lineage
	}
	err := r.state.store.Apply(func(w swapstore.Writer) error {
		if wanted {
			if err := w.Set(c.key(), m.Payload); err != nil {
				return err
			}
		}
		return setOffset(w, source, m.Next)
	})
	if err == nil && wanted {
		r.state.candidates[c] = lineage
	}
	return err
}
