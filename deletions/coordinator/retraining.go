package coordinator

import (
	"context"
	"slices"

	"lethe/deletions"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// retraining waits until every affected shard was trained again and the ensemble
// that fits is served.
func (s *states) retraining(ctx context.Context, b batch) (batch, error) {
	purged, ok := s.acks.of(b.leader, b.attempts(), trainRole, deletions.StepPurged)
	if !ok {
		return b, nil
	}
	for _, shard := range b.retrained() {
		if !slices.Contains(purged.Shards, shard) {
			return b, nil
		}
	}
	swapped, ok := s.acks.of(b.leader, b.attempts(), scoreRole, deletions.StepSwapped)
	if !ok {
		return b, nil
	}
	// Both have said their settings before they answered.
	configuration, err := wire.Configuration(s.acks.settings)
	if err != nil {
		return b, err
	}
	s.out.phaseDone(b, events.Retrain, deletions.Retraining)
	return s.moveAll(ctx, b, deletions.Swapped, func(_ int, p *deletions.Progress) {
		p.EnsembleAfter, p.Refitted = swapped.Ensemble, purged.Refitted(p.Retrained)
		p.Configuration = configuration
	})
}
