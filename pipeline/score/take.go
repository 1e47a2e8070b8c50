package score

import (
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// takeMessage stores a graph, a manifest or a model.
func (l *logic) takeMessage(source bus.TopicPartition, m wire.Received) error {
	switch m.Key.Kind {
	case wire.KindSnapshot:
		return l.takeSnapshot(source, m)
	case wire.KindManifest:
		return l.takeManifest(source, m)
	case wire.KindModel:
		return l.takeModel(source, m)
	default:
		return fmt.Errorf("%s does not carry messages of kind %q", source, m.Key.Kind)
	}
}

// takeSnapshot stores a graph until it is scored. A later revision of a graph
// that was scored already changes no prediction: those of erased transactions
// are dropped from what is measured, and everything else stands as it was
// decided then.
func (l *logic) takeSnapshot(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, exists := l.state.links[t]
	if exists && known.revision >= m.Revision {
		return l.state.store.Apply(func(w swapstore.Writer) error { return setOffset(w, source, m.Next) })
	}
	snapshot, err := canonical.DecodeSnapshot(m.Payload)
	if err != nil {
		return err
	}
	next := link{revision: m.Revision, previous: m.Previous, done: known.done}
	kept, dropped := (*published)(nil), false
	if known.done {
		before, err := l.state.published(t)
		if err != nil {
			return err
		}
		if before != nil {
			kept, dropped = before.only(snapshot)
		}
	}
	err = l.state.store.Apply(func(w swapstore.Writer) error {
		if !next.done {
			if err := w.Set(timestepkey.New(snapshotPrefix, t), m.Payload); err != nil {
				return err
			}
		}
		if dropped {
			if err := w.Set(timestepkey.New(publishedPrefix, t), kept.encode()); err != nil {
				return err
			}
			if err := w.Delete(timestepkey.New(qualityPrefix, t)); err != nil {
				return err
			}
		}
		if err := w.Set(timestepkey.New(linkPrefix, t), next.encode()); err != nil {
			return err
		}
		return setOffset(w, source, m.Next)
	})
	if err != nil {
		return err
	}
	l.state.links[t] = next
	if dropped {
		return l.measure(t)
	}
	return nil
}

// takeManifest stores a manifest and, if its timestep was scored, measures the
// predictions against the labels it brings.
func (l *logic) takeManifest(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	fresh := l.state.revisions[t] < m.Revision
	var manifest *wire.Manifest
	if fresh {
		var err error
		if manifest, err = wire.DecodeManifest(m.Payload); err != nil {
			return err
		}
		if len(manifest.Slices) != l.o.Shards {
			return fmt.Errorf("manifest names %d slices, but partition.shards is %d: "+
				"give the number that the stream was begun with", len(manifest.Slices), l.o.Shards)
		}
	}
	err := l.state.store.Apply(func(w swapstore.Writer) error {
		if fresh {
			if err := w.Set(timestepkey.New(manifestPrefix, t), withRevision(m.Revision, m.Payload)); err != nil {
				return err
			}
			if err := w.Delete(timestepkey.New(qualityPrefix, t)); err != nil {
				return err
			}
		}
		return setOffset(w, source, m.Next)
	})
	if err != nil || !fresh {
		return err
	}
	l.state.learn(manifest, m.Revision)
	return l.measure(t)
}

// takeModel stores a checkpoint that an ensemble may need.
func (l *logic) takeModel(source bus.TopicPartition, m wire.Received) error {
	c := candidate{m.Key.Timestep, m.Key.Shard}
	if int(c.shard) >= l.o.Shards {
		return fmt.Errorf("partition.shards is %d: give the number that the stream was begun with", l.o.Shards)
	}
	// An ensemble older than the served one is never asked for again.
	wanted := l.state.served == nil || c.timestep >= l.state.served.Through
	var lineage lethe.Digest
	if wanted {
		checkpoint, err := trainer.DecodeCheckpoint(m.Payload)
		if err != nil {
			return err
		}
		lineage = checkpoint.Lineage
	}
	err := l.state.store.Apply(func(w swapstore.Writer) error {
		if wanted {
			if err := w.Set(c.key(), m.Payload); err != nil {
				return err
			}
		}
		return setOffset(w, source, m.Next)
	})
	if err == nil && wanted {
		l.state.candidates[c] = lineage
	}
	return err
}
