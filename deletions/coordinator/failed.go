package coordinator

import (
	"context"
	"time"

	"lethe/deletions"
	"lethe/pipeline/wire"
)

// failed goes back to the step that failed, after a while. Verification is asked
// for again, with a new attempt number, so that the other roles search again.
func (s *states) failed(ctx context.Context, b batch) (batch, error) {
	now := s.o.Clock.Now()
	for _, e := range b.members {
		if s.failedAt.waited(e, now) < retryDelay(e.Attempts) {
			return b, nil
		}
	}
	for _, e := range b.members {
		delete(s.failedAt, try{e.RequestID, e.Attempts})
	}
	b, err := s.spare(b)
	if err != nil {
		return b, err
	}
	members, err := s.o.Ledger.RetryAll(b.ids())
	if err != nil {
		return b, err
	}
	b.members = members
	if err := s.out.announce(ctx, members...); err != nil {
		return b, err
	}
	if b.state() == deletions.Erased {
		return b, s.out.command(ctx, b.leader, wire.PhaseSearch)
	}
	return b, s.out.command(ctx, b.leader, wire.PhasePurge)
}

// try is one try of a request.
type try struct {
	requestID string
	attempts  int
}

// tries says when this process first saw that a try had failed.
type tries map[try]time.Time

// waited is how long ago a try failed. The ledger has the time of day, which may have been
// set back since: then it counts from when this process first saw that.
func (known tries) waited(e deletions.Entry, now time.Time) time.Duration {
	this := try{e.RequestID, e.Attempts}
	if seen, found := known[this]; !found || now.Before(seen) {
		known[this] = now
	}
	return max(now.Sub(e.Updated()), now.Sub(known[this]))
}

// retryDelay doubles from a second to a minute.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}
