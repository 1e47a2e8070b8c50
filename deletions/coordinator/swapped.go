package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

// swapped deletes the predictions of the targets, now that score has acknowledged
// that no further one leaves, and the request itself.
func (c *Coordinator) swapped(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	predictions, err := c.withdraw(ctx, e, bus.Predictions)
	if err != nil {
		return e, err
	}
	if err := c.o.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: []byte(e.RequestID)}}); err != nil {
		return e, fmt.Errorf("purge the request: %w", err)
	}
	c.out.phaseDone(e, events.Swap, deletions.Swapped)
	return c.move(ctx, e, deletions.Verifying, func(p *deletions.Progress) {
		p.Counts.Predictions = max(p.Counts.Predictions, predictions)
	})
}
