package coordinator

import (
	"context"
	"slices"

	"lethe/deletions"
	"lethe/metrics/events"
)

// retraining waits until every affected shard was trained again and the ensemble
// that fits is served.
func (s *states) retraining(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	purged, ok := s.acks.of(e, trainRole, deletions.StepPurged)
	if !ok {
		return e, nil
	}
	for _, shard := range e.Progress.Retrained {
		if !slices.Contains(purged.Shards, shard) {
			return e, nil
		}
	}
	swapped, ok := s.acks.of(e, scoreRole, deletions.StepSwapped)
	if !ok {
		return e, nil
	}
	s.out.phaseDone(e, events.Retrain, deletions.Retraining)
	return s.move(ctx, e, deletions.Swapped, func(p *deletions.Progress) { p.EnsembleAfter = swapped.Ensemble })
}
