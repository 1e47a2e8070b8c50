package coordinator

import (
	"context"

	"lethe/deletions"
)

// suppressed waits until score lets nothing about the targets out any more. It
// answers with the ensemble it serves, which the receipt names.
func (c *Coordinator) suppressed(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	before, ok := c.acks.of(e, scoreRole, deletions.StepSuppressed)
	if !ok || c.job(e.RequestID) == nil {
		return e, nil
	}
	return c.move(ctx, e, deletions.Rewriting, func(p *deletions.Progress) { p.EnsembleBefore = before.Ensemble })
}
