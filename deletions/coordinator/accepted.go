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
func (c *Coordinator) accepted(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := c.job(e.RequestID)
	if j == nil {
		return e, nil
	}
	if err := c.graphs.Suppress(j.request.Targets); err != nil {
		return e, fmt.Errorf("suppress: %w", err)
	}
	e, err := c.ledger.Transition(e.RequestID, deletions.Suppressed, nil)
	if err != nil {
		return e, err
	}
	c.erased.forget()
	if err := c.out.command(ctx, e, wire.PhaseSuppress); err != nil {
		return e, err
	}
	if err := c.out.announce(ctx, e); err != nil {
		return e, err
	}
	c.out.phaseDone(e, events.Suppress, deletions.Received)
	return e, nil
}
