package coordinator

import (
	"context"

	"lethe"
	"lethe/deletions"
)

// received accepts or rejects a request.
func (s *states) received(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := s.jobs.of(e.RequestID)
	if j == nil {
		// After a crash the request has to be read again first.
		return e, nil
	}
	if err := s.out.announce(ctx, e); err != nil {
		return e, err
	}
	why, err := s.objection(e, j.request.Targets)
	if err != nil {
		return e, err
	}
	if why != deletions.NoFailure {
		return s.stop(ctx, e, deletions.Rejected, why)
	}
	return s.move(ctx, e, deletions.Accepted, nil)
}

// objection says why a received request cannot be carried out, or NoFailure.
func (s *states) objection(e deletions.Entry, targets []lethe.Target) (deletions.FailureCode, error) {
	if s.o.OneHop && e.Scope == lethe.ScopeShard {
		// Rows of other shards hold a mean of the erased one, and this scope
		// would leave them as they are.
		s.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
			"request_id", e.RequestID)
		return deletions.RejectedScope, nil
	}
	located, err := s.o.Graphs.Locate(targets)
	if err != nil {
		return deletions.NoFailure, err
	}
	// One that another request is erasing counts as gone: the answer must not
	// depend on how far that has got.
	unknown := 0
	for _, l := range located {
		if !l.Known || l.Suppressed {
			unknown++
		}
	}
	if unknown == 0 {
		return deletions.NoFailure, nil
	}
	s.o.Logger.Warn("erasure rejected: transactions are unknown",
		"request_id", e.RequestID, "unknown", unknown, "named", len(targets))
	return deletions.RejectedUnknown, nil
}
