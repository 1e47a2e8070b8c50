package coordinator

import (
	"context"

	"lethe/deletions"
)

// suppressed waits until score lets nothing about the targets out any more. It
// answers with the ensemble it serves, which the receipt names.
func (s *states) suppressed(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	before, ok := s.acks.of(e, scoreRole, deletions.StepSuppressed)
	if !ok || s.jobs.of(e.RequestID) == nil {
		return e, nil
	}
	return s.move(ctx, e, deletions.Rewriting, func(p *deletions.Progress) { p.EnsembleBefore = before.Ensemble })
}
