package coordinator

import (
	"context"
	"time"

	"lethe/deletions"
	"lethe/pipeline/wire"
)

// failed goes back to the step that failed, after a while. Verification is asked
// for anew, with a new attempt number, so that the other roles search again.
func (s *states) failed(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	if s.o.Clock.Now().Sub(e.Updated()) < retryDelay(e.Attempts) {
		return e, nil
	}
	e, err := s.o.Ledger.Retry(e.RequestID)
	if err != nil {
		return e, err
	}
	if err := s.out.announce(ctx, e); err != nil {
		return e, err
	}
	return e, s.out.command(ctx, e, wire.PhasePurge)
}

// retryDelay doubles from a second to a minute.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}
