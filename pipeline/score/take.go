package score

import (
	"context"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/score/published"
	"lethe/pipeline/wire"
)

// takeMessage stores or deletes a graph, a manifest or a model.
func (l *logic) takeMessage(ctx context.Context, source bus.TopicPartition, m wire.Received) error {
	if m.Deleted {
		return l.state.forget(m.Key, func(w swapstore.Writer) { setOffset(w, source, m.Next) })
	}
	switch m.Key.Kind {
	case wire.KindSnapshot:
		return l.takeSnapshot(ctx, source, m)
	case wire.KindManifest:
		return l.takeManifest(source, m)
	case wire.KindModel:
		return l.takeModel(source, m)
	default:
		return m.PayloadOf(fmt.Errorf("%s does not carry messages of kind %q", source, m.Key.Kind), 0, 0)
	}
}

// takeSnapshot stores a graph until it is scored. A later revision of a scored graph changes no prediction: erased
// transactions are no longer measured, late ones are scored by the ensemble served now, and reasons of transactions
// that lost a neighbour are made again. A graph that was not scored because it was the first is scored once another
// precedes it.
func (l *logic) takeSnapshot(ctx context.Context, source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, exists := l.state.links[t]
	if exists && known.revision >= m.Revision {
		return storeOffset(l.state.store, source, m.Next)
	}
	snapshot, err := canonical.DecodeSnapshot(m.Payload)
	if snapshot == nil {
		snapshot = &lethe.Snapshot{}
	}
	if err := m.PayloadOf(err, snapshot.Timestep, m.Key.Shard); err != nil {
		return err
	}
	next, rest, err := placed(l, snapshot, m)
	if err != nil {
		return err
	}
	// Before the graph's offset is stored, so that a crash loses no withdrawal.
	if err := l.arrivals.close(ctx, snapshot); err != nil {
		return err
	}
	err = l.state.store.Apply(func(w swapstore.Writer) error {
		var changed *published.Step
		if rest.changed {
			changed = rest.kept
		}
		next.write(w, t, m.Payload, changed)
		rest.reasons.write(w, t)
		setOffset(w, source, m.Next)
		return nil
	})
	if err != nil {
		return err
	}
	l.state.links[t], l.state.scored = next, l.state.scored.Without(t)
	l.explaining.owes(t, rest.reasons.owed())
	l.explaining.overtake(t)
	if rest.changed {
		return l.measure(t)
	}
	return nil
}

// passedOver is logged for a timestep whose predictions are not made here.
const passedOver = "score: a timestep is passed over, because the journal has it as scored"

// placed returns the state of a new graph, and the remaining predictions and alerts of its timestep.
func placed(l *logic, graph *lethe.Snapshot, m wire.Received) (next link, rest remainder, err error) {
	t := m.Key.Timestep
	known, exists := l.state.links[t]
	next = link{revision: m.Revision, previous: m.Previous, done: known.done, owed: known.owed}
	// The first timestep stays unscored, and so do its late transactions: models may have existed before only because of
	// records that are erased by now.
	scorable := l.state.models.served != nil && m.Previous != lethe.NoTimestep
	switch {
	case known.done:
		if rest, err = remainderOf(l.state, graph, l.o.Secret); err != nil {
			return next, rest, err
		}
		next.late = scorable && rest.kept != nil && rest.kept.Lacks(graph)
		next.done = rest.kept != nil || m.Previous == lethe.NoTimestep
		next.owed = rest.reasons.kind(next.owed)
	case !exists && m.Previous != lethe.NoTimestep && l.state.scored.Holds(t):
		l.o.Logger.Warn(passedOver, "timestep", t)
		rest = unreadRemainder(l, graph)
		next.done, next.late = true, scorable && rest.kept.Lacks(graph)
		next.owed = rest.reasons.kind(next.owed)
	case !exists && l.state.links.passed(t) && (scorable || m.Previous == lethe.NoTimestep):
		// A timestep that was unknown when its successors were scored.
		next.done, next.late = true, scorable
	}
	return next, rest, nil
}

// remainder are the remaining predictions and alerts of a timestep when its graph is replaced.
type remainder struct {
	// kept is nil if nothing was published.
	kept *published.Step
	// changed means that they are not the stored ones.
	changed bool
	reasons explained
}

// unreadRemainder returns the remainder of a timestep that is passed over. Unless its predictions are recovered, all
// count as late.
func unreadRemainder(l *logic, graph *lethe.Snapshot) remainder {
	recovered := l.state.recovered[graph.Timestep]
	if recovered == nil {
		return remainder{kept: published.Unmeasured(graph), changed: true, reasons: unreadAlerts()}
	}
	kept := recovered.Only(graph)
	isOpen := l.erasing.requests.Rewrite(graph.Timestep)
	return remainder{kept: kept, changed: true, reasons: l.explaining.recoverAlerts(graph, kept, isOpen)}
}

// remainderOf returns the remainder for a graph.
func remainderOf(s *state, graph *lethe.Snapshot, secret lethe.Secret) (rest remainder, err error) {
	before, err := s.published(graph.Timestep)
	if err != nil {
		return rest, err
	}
	if before != nil {
		recovered := s.recovered[graph.Timestep]
		rest.kept = before.With(recovered).Only(graph)
		rest.changed = rest.kept.Count() != before.Count() || recovered != nil
	}
	rest.reasons, err = explainedAnew(s, graph, secret)
	return rest, err
}

// waits reports whether a graph is not scored or explained yet.
func (k link) waits() bool { return !k.done || k.late || k.owed != owesNothing }

// write stores the state of a graph, its bytes while it waits to be scored, and changed predictions.
func (k link) write(w swapstore.Writer, t lethe.Timestep, graph []byte, changed *published.Step) {
	waits := timestepkey.New(snapshotPrefix, t)
	if k.waits() {
		w.Set(waits, graph)
	} else {
		w.Delete(waits)
	}
	if changed != nil {
		w.Set(timestepkey.New(publishedPrefix, t), changed.Encode())
	}
	w.Set(timestepkey.New(linkPrefix, t), k.encode())
}

// takeManifest stores a manifest and, if its timestep was scored, measures the
// predictions against the labels it brings.
func (l *logic) takeManifest(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	fresh := l.state.revisions[t] < m.Revision
	var manifest *wire.Manifest
	if fresh {
		var err error
		manifest, err = wire.DecodeManifest(m.Payload)
		if err == nil && len(manifest.Slices) != l.o.Layout.Shards {
			// Graphs has the same number of shards: settings are compared at the start.
			err = fmt.Errorf("manifest names %d slices, but partition.shards is %d", len(manifest.Slices), l.o.Layout.Shards)
		}
		if manifest == nil {
			manifest = &wire.Manifest{}
		}
		if err := m.PayloadOf(err, manifest.Timestep, m.Key.Shard); err != nil {
			return err
		}
	}
	err := l.state.store.Apply(func(w swapstore.Writer) error {
		if fresh {
			w.Set(timestepkey.New(manifestPrefix, t), withRevision(m.Revision, m.Payload))
		}
		setOffset(w, source, m.Next)
		return nil
	})
	if err != nil || !fresh {
		return err
	}
	l.state.learn(manifest, m.Revision)
	return l.measure(t)
}

// wanted reports whether a message is stored. Models are if an ensemble may need them: one older than the served
// ensemble only if all later ones are deleted, and one of a deleted timestep never.
func wanted(s *state, erasures map[string]*erasure, m wire.Received) bool {
	if m.Key.Kind != wire.KindModel || m.Deleted {
		return true
	}
	if int(m.Key.Shard) >= s.models.count() { // of other components
		return false
	}
	for _, e := range erasures {
		if e.Command.Removes(m) { // it was published before train processed the command
			return false
		}
	}
	return m.Last || s.models.served == nil || m.Key.Timestep >= s.models.served.Through
}

// takeModel stores a checkpoint that an ensemble may need.
func (l *logic) takeModel(source bus.TopicPartition, m wire.Received) error {
	c := candidate{m.Key.Timestep, m.Key.Shard}
	a, err := decodeArtefact(m.Payload, l.state.models.isMeta(c.shard))
	if err != nil {
		if _, other := decodeArtefact(m.Payload, !l.state.models.isMeta(c.shard)); other == nil { // of other components
			return storeOffset(l.state.store, source, m.Next)
		}
	}
	t, number := a.place(c.shard)
	if err := m.PayloadOf(err, t, number); err != nil {
		return err
	}
	next := arrived{a.lineage(), canonical.DigestOf(m.Payload), m.Revision}
	before, replaces := l.state.models.candidates[c]
	old := model{c, before.digest}
	replaces = replaces && before.digest != next.digest && !l.state.models.uses(old)
	err = l.state.store.Apply(func(w swapstore.Writer) error {
		w.Set(model{c, next.digest}.key(), m.Payload)
		w.Set(c.key(), encodeCandidate(next.digest, next.revision))
		if replaces {
			w.Delete(old.key())
		}
		setOffset(w, source, m.Next)
		return nil
	})
	if err == nil {
		l.state.models.candidates[c] = next
	}
	return err
}
