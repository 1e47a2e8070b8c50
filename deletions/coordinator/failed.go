package coordinator

import (
	"context"
	"time"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/pipeline/wire"
)

// failed retries the failed step after a delay, under a new attempt number, so that the other roles search again.
func (s *states) failed(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	now := s.now()
	for _, e := range b.Members {
		if s.failedAt.waited(e, now) < retryDelay(e.Attempts) {
			return b, nil
		}
	}
	for _, e := range b.Members {
		delete(s.failedAt, try{e.RequestID, e.Attempts})
	}
	b, err := s.withdrawing.spare(b)
	if err != nil {
		return b, err
	}
	return s.retry(ctx, b)
}

type try struct {
	requestID string
	attempts  int
}

// tries has the time at which this process first saw a try fail.
type tries map[try]time.Time

// waited is the time since a try failed, counted from when this process saw it if the clock was set back.
func (known tries) waited(e deletions.Entry, now time.Time) time.Duration {
	this := try{e.RequestID, e.Attempts}
	if seen, found := known[this]; !found || now.Before(seen) {
		known[this] = now
	}
	return max(now.Sub(e.Updated()), now.Sub(known[this]))
}

func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// splits are the leaders of batches to split before a retry, forgotten at a restart. Other roles do not report which
// request their findings belong to. Such a batch is retried in halves with a leader each, until the request with
// findings is alone.
type splits map[string]bool

func (p splits) mark(b batch.Batch) {
	if len(b.Members) > 1 {
		p[b.Leader] = true
	}
}

// retry moves a failed batch back, in halves if marked, commands each half and returns the old leader's.
func (s *states) retry(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	var leaders map[string]string
	if s.splits[b.Leader] && len(b.Members) > 1 {
		leaders = b.Halves()
	}
	delete(s.splits, b.Leader)
	members, err := s.o.Ledger.RetryAll(b.IDs(), func(e *deletions.Entry) {
		if leader, moves := leaders[e.RequestID]; moves {
			e.Batch.Leader = leader
		}
	})
	if err != nil {
		return b, err
	}
	if err := s.out.announce(ctx, members...); err != nil {
		return b, err
	}
	phase := wire.PhasePurge
	if members[0].State == deletions.Erased {
		phase = wire.PhaseSearch
	}
	own := batch.Batch{Leader: b.Leader}
	commanded := make(map[string]bool)
	for _, e := range members {
		if e.Leader() == b.Leader {
			own.Members = append(own.Members, e)
		} else {
			s.dirty = true
		}
		if commanded[e.Leader()] {
			continue
		}
		commanded[e.Leader()] = true
		if err := s.out.command(ctx, e.Leader(), phase); err != nil {
			return b, err
		}
	}
	return own, nil
}
