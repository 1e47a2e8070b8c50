package coordinator

import (
	"context"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// swapped removes what nobody has waited for so far: records from their topics, and what
// the graphs have only deleted from their files. Then it sees that every place that held
// the targets was cleaned. If the graphs did not hold all targets, the topics are looked
// through now, and not later: some other place may have held them.
func (s *states) swapped(ctx context.Context, b batch) (batch, error) {
	if !s.erased.knowsAll(b) {
		found, done, err := s.verification.withdrawn(ctx, b)
		if err != nil || !done {
			return found, err
		}
		b = found
	}
	if s.scrubbed[b.leader] != b.attempts()+1 {
		if err := s.erased.removeNamed(ctx, b.ids()); err != nil {
			return b, err
		}
		if err := s.o.Graphs.Scrub(ctx); err != nil {
			return b, err
		}
		s.scrubbed[b.leader] = b.attempts() + 1
	}
	return s.cleaned(ctx, b)
}

// cleaned waits until the other roles have searched the places that held the
// targets, which were rewritten or unlinked, and searches those of the graphs.
func (s *states) cleaned(ctx context.Context, b batch) (batch, error) {
	found, ok := s.acks.searchedBy(b, deletions.StepErased)
	if !ok {
		return b, nil
	}
	scanner, err := scan.NewScanner(s.o.Secret, b.fingerprints())
	if err != nil {
		return b, err
	}
	report, err := s.o.Graphs.Search(ctx, scanner, b.replaced())
	if err != nil {
		return b, err
	}
	if found = found.Add(report.Summary()); found.Hits > 0 {
		// The other roles do not say whose these are, so all are tried again.
		s.o.Logger.Error("erasure: a place that was written anew still holds something", "request_id", b.leader,
			"requests", len(b.members), "hits", found.Hits)
		return s.fail(ctx, b, deletions.FailedHits)
	}
	s.out.phaseDone(b, events.Swap, deletions.Swapped)
	note := func(_ int, p *deletions.Progress) { p.Erasure = &found }
	if b, err = s.moveAll(ctx, b, deletions.Erased, note); err != nil {
		return b, err
	}
	delete(s.scrubbed, b.leader)
	return b, s.out.command(ctx, b.leader, wire.PhaseSearch)
}

// searchedBy puts together what the other roles have searched for the present attempt
// of a batch, if they all have.
func (a acks) searchedBy(b batch, step deletions.Step) (all scan.Summary, ok bool) {
	for _, role := range []string{trainRole, scoreRole} {
		ack, answered := a.of(b.leader, b.attempts(), role, step)
		if !answered {
			return all, false
		}
		all = all.Add(*ack.Scan)
	}
	return all, true
}
