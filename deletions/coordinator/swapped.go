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
func (s *states) swapped(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	predictions, err := s.erased.withdrawFrom(ctx, e, bus.Predictions)
	if err != nil {
		return e, err
	}
	if err := s.o.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: []byte(e.RequestID)}}); err != nil {
		return e, fmt.Errorf("purge the request: %w", err)
	}
	s.out.phaseDone(e, events.Swap, deletions.Swapped)
	return s.move(ctx, e, deletions.Verifying, func(p *deletions.Progress) {
		p.Counts.Predictions = max(p.Counts.Predictions, predictions)
	})
}
