package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/metrics/events"
)

// received accepts or rejects requests that have just been read, or has them wait for a
// hold, and returns them as they are then.
func (s *states) received(ctx context.Context, list []deletions.Entry) (out []deletions.Entry, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if err := s.out.announce(ctx, list...); err != nil {
		return nil, err
	}
	kept, err := s.holds.kept()
	if err != nil {
		return nil, err
	}
	var narrow, fine batch
	var held []deletions.Entry
	for _, e := range list {
		switch {
		case s.o.rejects(e.Scope):
			// Rows of other shards hold a mean of the erased one, and this scope
			// would leave them as they are.
			s.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
				"request_id", e.RequestID)
			narrow.members = append(narrow.members, e)
		case names(e, kept):
			held = append(held, e)
		default:
			fine.members = append(fine.members, e)
		}
	}
	if len(narrow.members) > 0 {
		if narrow, err = s.stop(ctx, narrow, deletions.Rejected, deletions.RejectedScope); err != nil {
			return nil, err
		}
	}
	if len(fine.members) > 0 {
		if fine, err = s.moveAll(ctx, fine, deletions.Accepted, nil); err != nil {
			return nil, err
		}
	}
	if held, err = s.holds.wait(ctx, held, kept); err != nil {
		return nil, err
	}
	return slices.Concat(narrow.members, held, fine.members), nil
}

// rejects reports whether requests of a scope are refused.
func (o *Options) rejects(scope lethe.Scope) bool { return o.OneHop && scope == lethe.ScopeShard }

// accepted suppresses the targets of requests here and asks score to do so, then waits
// until score lets nothing about them out any more. It answers with the ensemble it
// serves, which the receipt names. Requests whose targets have to be read again, after a
// crash, wait for that.
func (s *states) accepted(ctx context.Context, list []deletions.Entry) error {
	var untold, answered batch
	var targets [][]lethe.Target
	before := make(map[string]deletions.Ack)
	for _, e := range list {
		j := s.jobs.of(e.RequestID)
		if j == nil {
			continue
		}
		if !s.commanded[e.RequestID] {
			untold.members, targets = append(untold.members, e), append(targets, j.request.Targets)
		}
		if a, ok := s.acks.of(e.RequestID, e.Attempts, scoreRole, deletions.StepSuppressed); ok {
			answered.members = append(answered.members, e)
			before[e.RequestID] = a
		}
	}
	if len(untold.members) > 0 {
		if err := s.o.Graphs.Suppress(distinct(targets)); err != nil {
			return fmt.Errorf("suppress the targets of %d requests: %w", len(targets), err)
		}
		s.erased.forget()
		if err := s.out.suppress(ctx, untold.members...); err != nil {
			return err
		}
		for _, id := range untold.ids() {
			s.commanded[id] = true
		}
	}
	if len(answered.members) == 0 {
		return nil
	}
	for _, id := range answered.ids() {
		delete(s.commanded, id)
	}
	s.out.phaseDone(answered, events.Suppress, deletions.Received)
	_, err := s.moveEach(ctx, answered, deletions.Suppressed, func(_ int, e *deletions.Entry) {
		e.Progress.EnsembleBefore = before[e.RequestID].Ensemble
		e.Progress.Checkpoints.Before = before[e.RequestID].Models
	})
	return err
}
