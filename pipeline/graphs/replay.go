package graphs

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
)

// replayer applies the entries of the journal.
type replayer struct {
	*logic
	o      Options
	replay *role.Replay
}

// all applies the entries that were read.
func (s *replayer) all(ctx context.Context) error {
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
		if err := publish.PutPosition(s.store, s.replay.Applied()); err != nil {
			return err
		}
	}
}

// apply applies an entry; done is false if records that it names are still to be read.
func (s *replayer) apply(ctx context.Context, e journal.Entry) (done bool, err error) {
	if _, is := e.Decision.(journal.EpochBegan); is {
		return true, nil
	}
	first, err := publish.Begins(s.store, e.Decision, journal.Position{Place: e.Place()})
	if err == nil && first {
		err = s.intake.Letters.ForgetWaiting()
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
		return true, s.timesteps.Replay(ctx, d)
	case journal.Suppressed:
		return true, erase.SuppressIn(s.store, d)
	case journal.Lifted:
		return true, s.store.Suppressed().Lift(d.Targets, d.Subjects...)
	case journal.Rewritten:
		return true, s.rewrite(ctx, d)
	default:
		return false, fmt.Errorf("graphs has no entries %T", d)
	}
}

// consume applies the records of an entry.
func (s *replayer) consume(d journal.Consumed) (done bool, err error) {
	batch, there := s.replay.Batch(d)
	if !there {
		return false, nil
	}
	if err := s.intake.Replay(batch, d); err != nil {
		return false, err
	}
	s.progress.read(batch)
	s.timesteps.Begun()
	return true, nil
}

// rewrite deletes the targets of requests from the graphs. erasures.v1 has the targets until every process has
// acknowledged that.
func (s *replayer) rewrite(ctx context.Context, d journal.Rewritten) error {
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
	return s.eraser.RewriteStore(ctx, targets, replaced)
}

// targets returns the targets of requests from erasures.v1 and the copy of the ledger, and the hashes of everything
// else that was found.
func (s *replayer) targets(
	ctx context.Context, requests []lethe.Digest,
) (targets []lethe.Target, found []lethe.Digest, err error) {
	kept, err := ledgercopy.Read(ctx, s.o.Bus)
	if err != nil {
		return nil, nil, err
	}
	err = s.o.Bus.ReadAll(ctx, bus.Erasures, func(rec ingest.Record) error {
		event, err := ingest.DecodeErasure(rec, s.o.Limits)
		request, is := event.(ingest.Erasure)
		if err != nil || !is {
			return nil //nolint:nilerr // the leader reports it
		}
		e := kept.Entries[request.RequestID]
		if !slices.Contains(requests, e.Digest) {
			return nil
		}
		found = append(found, e.Suppressed()...)
		for _, t := range e.Complete(s.o.Secret, request.Targets) {
			if slices.Contains(e.Targets, s.o.Secret.Suppressed(t)) { // else it is another request of the same name
				targets = append(targets, t)
			}
		}
		return nil
	})
	return lethe.Distinct(targets), found, err
}
