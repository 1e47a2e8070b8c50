package graphs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/coordinator"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// replayAll does what the journal says, as far as it was read.
func (s *standby) replayAll(ctx context.Context) error {
	for {
		e, is := s.replay.Next()
		if !is {
			return nil
		}
		done, err := s.apply(ctx, e)
		if err != nil {
			return fmt.Errorf("entry %d of epoch %d: %w", e.Number, e.Epoch, err)
		}
		if !done {
			return nil
		}
		if err := putPosition(s.store, s.replay.Did()); err != nil {
			return err
		}
	}
}

// apply does what an entry says; done is false if records of it are still to be read.
func (s *standby) apply(ctx context.Context, e journal.Entry) (done bool, err error) {
	if _, is := e.Decision.(journal.EpochBegan); is {
		return true, nil
	}
	first, err := begins(s.store, e.Decision, journal.Position{Place: e.Place()})
	if err == nil && first {
		err = s.lifecycle.letters.ForgetWaiting()
	}
	if err != nil {
		return false, err
	}
	switch d := e.Decision.(type) {
	case journal.FeaturesDecided:
		return true, s.store.Marks().FixFeatureCount(d.Count)
	case journal.Consumed:
		return s.consume(d)
	case journal.TimestepsChanged:
		return true, s.change(ctx, d)
	case journal.Suppressed:
		return true, suppress(s.store, d)
	case journal.Lifted:
		return true, s.store.Suppressed().Lift(d.Targets, d.Subjects...)
	case journal.Rewritten:
		return true, s.rewrite(ctx, d)
	default:
		return true, nil
	}
}

// consume takes the records of an entry.
func (s *standby) consume(d journal.Consumed) (done bool, err error) {
	batch, there := s.replay.Batch(d)
	if !there {
		return false, nil
	}
	if err := s.intake.Replay(batch, d); err != nil {
		return false, err
	}
	s.noteTaken(batch)
	return true, nil
}

// change does what becomes of timesteps.
func (s *standby) change(ctx context.Context, d journal.TimestepsChanged) error {
	assign := func(g *lethe.Snapshot) ([]lethe.ShardID, error) { return s.lifecycle.assign(ctx, g) }
	for _, t := range d.Closed {
		if err := s.lifecycle.closings.atOnce(ctx, t); !isUnready(err) {
			return fmt.Errorf("close timestep %d: %w", t, err)
		}
	}
	for _, t := range d.Settled {
		started := s.now()
		err := s.store.SettleTimestep(ctx, t, assign)
		if !isUnready(err) {
			return fmt.Errorf("settle timestep %d: %w", t, err)
		}
		s.lifecycle.noteChanged(t, lethe.Settled, started)
	}
	for _, t := range d.Reopened {
		started := s.now()
		changed, err := s.store.ReopenTimestep(ctx, t, assign)
		if !isUnready(err) {
			return fmt.Errorf("reopen timestep %d: %w", t, err)
		}
		if changed {
			s.lifecycle.noteReopened(t, started)
		}
	}
	if !d.Publishes() {
		return nil
	}
	return s.adopt(d)
}

// isUnready reports whether an error says no more than that a store has less than that of whoever decided: records that
// others replaced since have gone from their topics.
func isUnready(err error) bool {
	return err == nil || errors.Is(err, snapshot.ErrNotReady) || errors.Is(err, snapshot.ErrUnknownTimestep)
}

// adopt notes what is published. What it is not here goes on behind that, and is published if this process leads.
func (s *standby) adopt(d journal.TimestepsChanged) error {
	behind, same := make(map[lethe.Timestep]lethe.Revision), make(map[lethe.Timestep]lethe.Revision)
	infos := infosOf(s.store)
	compare := func(list []journal.Artefact, digest func(a journal.Artefact) (lethe.Digest, error)) error {
		for _, a := range list {
			own, err := digest(a)
			switch info := infos[a.Timestep]; {
			case err != nil:
				return fmt.Errorf("timestep %d: %w", a.Timestep, err)
			case own != a.Digest:
				behind[a.Timestep] = max(info.Revision, a.Revision)
			case info.Revision < a.Revision:
				same[a.Timestep] = a.Revision
			}
		}
		return nil
	}
	err := compare(d.Graphs, s.graphDigest)
	if err == nil {
		err = compare(d.Manifests, s.manifestDigest)
	}
	if err != nil {
		return err
	}
	gone := s.store.Gone()
	for _, a := range d.Removed {
		if info := infos[a.Timestep]; info.State > lethe.Open || gone[a.Timestep] < a.Revision {
			behind[a.Timestep] = a.Revision
		}
	}
	for t := range behind {
		delete(same, t)
	}
	if len(same) > 0 {
		err = snapshot.AdoptRevisions(s.store, same)
	}
	if err == nil && len(behind) > 0 {
		err = snapshot.GoBehind(s.store, behind)
	}
	if err == nil {
		err = s.store.Marks().PutUnsynced(marksOf(d)...)
	}
	return err
}

// graphDigest is that of the graph that an entry says is published, zero if there is none here.
func (s *standby) graphDigest(a journal.Artefact) (lethe.Digest, error) {
	if infosOf(s.store)[a.Timestep].State <= lethe.Open {
		return lethe.Digest{}, nil
	}
	content, err := s.store.Load(a.Timestep)
	if err != nil {
		return lethe.Digest{}, err
	}
	var d dispatch
	s.lifecycle.publisher.addGraph(&d, content)
	return d.changes.Graphs[0].Digest, nil
}

// manifestDigest is that of the manifest that an entry says is published, zero if it is another one here. Slices that
// stayed as they were published before may not be what the graph gives now.
func (s *standby) manifestDigest(a journal.Artefact) (lethe.Digest, error) {
	p := s.lifecycle.publisher
	if infosOf(s.store)[a.Timestep].State != lethe.Settled || len(a.Slices) != p.cut.shards {
		return lethe.Digest{}, nil
	}
	last := make([]lethe.Digest, p.cut.shards)
	if revision, _, err := p.published(manifestMark, a.Timestep); err != nil {
		return lethe.Digest{}, err
	} else if revision > 0 {
		if err := p.lastDigests(a.Timestep, last); err != nil {
			return lethe.Digest{}, err
		}
	}
	content, err := s.store.Load(a.Timestep)
	if err != nil {
		return lethe.Digest{}, err
	}
	own, err := p.cut.digests(content.Snapshot, content.Info.Previous, content.Assignment)
	if err != nil {
		return lethe.Digest{}, err
	}
	for i, digest := range a.Slices {
		if own[i] != digest && last[i] != digest {
			return lethe.Digest{}, nil
		}
	}
	manifest := &wire.Manifest{
		Timestep: a.Timestep, Previous: content.Info.Previous, Slices: a.Slices, Labels: wire.LabelsOf(content.Snapshot),
	}
	return canonical.DigestOf(manifest.Encode()), nil
}

// rewrite takes out of the graphs what requests name. Their targets are in erasures.v1 until all have answered that
// they are out of their graphs.
func (s *standby) rewrite(ctx context.Context, d journal.Rewritten) error {
	targets, found, err := s.targets(ctx, d.Requests)
	if err != nil || len(targets) == 0 {
		return err
	}
	if err := s.eraser.Adopt(ctx, targets, found); err != nil {
		return err
	}
	if err := s.store.Suppressed().Add(targets); err != nil {
		return err
	}
	var replaced []coordinator.Replaced
	for _, r := range d.Replaced {
		replaced = append(replaced, coordinator.Replaced(r))
	}
	return s.eraser.rewrite(ctx, targets, replaced)
}

// targets are what requests name, as erasures.v1 and the copy of the ledger tell, and the hashes of what else was
// found.
func (s *standby) targets(
	ctx context.Context, requests []lethe.Digest,
) (targets []lethe.Target, found []lethe.Digest, err error) {
	kept, err := ledgercopy.Read(ctx, s.o.Bus, s.o.Secret)
	if err != nil {
		return nil, nil, err
	}
	err = s.o.Bus.ReadAll(ctx, bus.Erasures, func(rec ingest.Record) error {
		event, err := ingest.DecodeErasure(rec, s.o.Limits)
		request, is := event.(ingest.Erasure)
		if err != nil || !is {
			return nil //nolint:nilerr // whoever leads says what is wrong with it
		}
		e := kept.Entries[request.RequestID]
		if !slices.Contains(requests, e.Digest) {
			return nil
		}
		found = append(found, e.Suppressed()...)
		for _, t := range e.Complete(s.o.Secret, request.Targets) {
			if slices.Contains(e.Targets, s.o.Secret.Suppressed(t)) { // else it is another request of this name
				targets = append(targets, t)
			}
		}
		return nil
	})
	return lethe.Distinct(targets), found, err
}
