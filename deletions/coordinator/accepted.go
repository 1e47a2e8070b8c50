package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// accepted suppresses the targets: here at once, at score as soon as it has read
// the command.
func (s *states) accepted(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := s.jobs.of(e.RequestID)
	if j == nil {
		return e, nil
	}
	if err := s.o.Graphs.Suppress(j.request.Targets); err != nil {
		return e, fmt.Errorf("suppress: %w", err)
	}
	e, err := s.o.Ledger.Transition(e.RequestID, deletions.Suppressed, nil)
	if err != nil {
		return e, err
	}
	s.erased.forget()
	if err := s.out.command(ctx, e, wire.PhaseSuppress); err != nil {
		return e, err
	}
	if err := s.out.announce(ctx, e); err != nil {
		return e, err
	}
	s.out.phaseDone(e, events.Suppress, deletions.Received)
	return e, nil
}
