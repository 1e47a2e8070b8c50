package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/late"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// cancellations handles requests cancelled before anything was rewritten.
type cancellations struct {
	*core
	// pending are the attempts of cancelled and held requests whose lift score has not acknowledged.
	pending map[string]int
	// swept means that the commands of requests ended by a restore are deleted.
	swept bool
}

// take cancels requests. Records with another digest, or too late, are ignored: the request's status answers. The
// ledger decides whether a batch began first.
func (s *cancellations) take(ctx context.Context, list []ingest.Cancel) error {
	for _, c := range list {
		e, err := s.o.Ledger.Get(c.RequestID)
		switch {
		case errors.Is(err, deletions.ErrUnknownRequest):
			s.o.Logger.Warn("not cancelled: no such request", "request_id", c.RequestID)
			continue
		case err != nil:
			return err
		case e.Digest != c.Digest:
			s.o.Logger.Warn("not cancelled: the request has another digest", "request_id", c.RequestID)
			continue
		case !e.State.Cancellable():
			s.o.Logger.Warn("not cancelled: too late", "request_id", c.RequestID, "state", e.State)
			continue
		}
		if err := s.cancel(ctx, e); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	open, err := s.o.Ledger.Open()
	if err == nil {
		_, err = s.orphans(ctx, open)
	}
	return err
}

func (s *cancellations) cancel(ctx context.Context, e deletions.Entry) error {
	unmark := func(_ int, e *deletions.Entry) { batch.MarkHeld(e, nil) }
	b, err := s.move(ctx, batch.Of(e), deletions.Cancelled, unmark)
	if err != nil {
		return err
	}
	s.o.Logger.Info("erasure cancelled", "request_id", e.RequestID)
	if err := s.lift(ctx, b.Members[0]); err != nil {
		return err
	}
	if err := s.out.purge(ctx, e.RequestID); err != nil {
		return err
	}
	s.jobs.drop(e.RequestID)
	return nil
}

// orphans cancels requests for late carriers whose subject request was cancelled, and returns the others.
func (s *cancellations) orphans(ctx context.Context, list []deletions.Entry) (others []deletions.Entry, err error) {
	for _, e := range list {
		of, is, err := late.Of(s.o.Secret, s.o.Ledger, e)
		if err != nil {
			return nil, err
		}
		if !is || of.State != deletions.Cancelled || !e.State.Cancellable() {
			others = append(others, e)
			continue
		}
		if err := s.cancel(ctx, e); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// lift ends the suppression of a cancelled request's targets, except those of other requests, here and in score.
func (s *cancellations) lift(ctx context.Context, e deletions.Entry) error {
	list, err := s.o.Ledger.List()
	if err != nil {
		return err
	}
	others := make(map[lethe.Digest]bool)
	for _, other := range list {
		for _, target := range other.Suppressed() {
			others[target] = others[target] || other.Suppresses()
		}
	}
	alone := slices.DeleteFunc(e.Suppressed(), func(t lethe.Digest) bool { return others[t] })
	still := shared(e, list)
	if err := s.o.Graphs.Lift(ctx, alone, still...); err != nil {
		return err
	}
	s.records.Changed()
	delete(s.commanded, e.RequestID)
	s.pending[e.RequestID] = e.Attempts
	return s.out.lift(ctx, e, alone, still)
}

// resume repeats at the start the work that a crash may have prevented.
func (s *cancellations) resume(ctx context.Context) error {
	list, err := s.o.Ledger.List(deletions.Cancelled, deletions.Held)
	if err != nil {
		return err
	}
	var tombstones []ingest.Outgoing
	for _, e := range list {
		concluded, err := s.o.Notes.Concluded(e.RequestID)
		if concluded && s.o.Instance != "" { // a process that led since may have commanded it again, and not concluded it
			tombstones = append(tombstones, wire.CommandTombstone(e.RequestID))
		}
		suppressed := e.State == deletions.Cancelled || slices.ContainsFunc(e.History, func(c deletions.Change) bool {
			return c.State == deletions.Accepted
		})
		if err == nil && !concluded && suppressed {
			err = errors.Join(s.out.announce(ctx, e), s.lift(ctx, e))
		}
		if err != nil {
			return fmt.Errorf("request %s, taken back: %w", e.RequestID, err)
		}
	}
	if len(tombstones) == 0 {
		return nil
	}
	return wire.PublishRecords(ctx, s.o.Bus, tombstones)
}

// sweep deletes, once no request is open, the commands of requests ended by a restore. Until then they keep their
// targets suppressed: the requests that replace them may not have been read yet.
func (s *cancellations) sweep(ctx context.Context) error {
	if s.swept {
		return nil
	}
	for _, id := range s.o.Restored.Requests {
		if _, err := s.o.Ledger.Get(id); err != nil {
			if errors.Is(err, deletions.ErrUnknownRequest) {
				return nil // it was not read yet
			}
			return err
		}
	}
	list, err := s.o.Ledger.Where(func(e *deletions.Entry) bool {
		return e.State == deletions.Rejected && e.Failure() == deletions.RejectedRestored && e.Suppresses()
	})
	if err != nil {
		return err
	}
	for _, e := range list {
		concluded, err := s.o.Notes.Concluded(e.RequestID)
		if err == nil && !concluded {
			if err = s.end(ctx, batch.Batch{Leader: e.Leader(), Members: []deletions.Entry{e}}); err == nil {
				err = s.o.Notes.Conclude(e.RequestID)
			}
		}
		if err != nil {
			return fmt.Errorf("request %s, ended by a restore: %w", e.RequestID, err)
		}
	}
	s.swept = true
	return nil
}

// conclude deletes the commands that score has acknowledged.
func (s *cancellations) conclude(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(s.pending)) {
		if _, lifted := s.acks.Shown(id, s.pending[id], deletions.StepLifted); !lifted {
			continue
		}
		records := append(s.acks.Drop(id), wire.CommandTombstone(id))
		if err := wire.PublishRecords(ctx, s.o.Bus, records); err != nil {
			return err
		}
		delete(s.pending, id)
		e, err := s.o.Ledger.Get(id)
		if err == nil && e.State == deletions.Cancelled {
			err = s.o.Notes.Conclude(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commandEnded reports whether nothing is commanded of a request, or of the batch that it leads, any more. e is empty
// for an unknown request. Of one that a restore has ended the command stays until sweep.
func (s *cancellations) commandEnded(id string, e deletions.Entry) (bool, error) {
	led, err := s.out.whole(id)
	_, pending := s.pending[id]
	switch {
	case err != nil || pending || len(led.Members) > 0 || e.State != "" && !e.State.Final():
		return false, err
	case e.State == deletions.Rejected && e.Suppresses():
		return s.o.Notes.Concluded(id)
	default:
		return true, nil
	}
}
