package coordinator

import (
	"context"

	"lethe"
	"lethe/deletions"
)

// received accepts or rejects a request.
func (c *Coordinator) received(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := c.job(e.RequestID)
	if j == nil {
		// After a crash the request has to be read again first.
		return e, nil
	}
	if err := c.out.announce(ctx, e); err != nil {
		return e, err
	}
	why, err := c.objection(e, j.request.Targets)
	if err != nil {
		return e, err
	}
	if why != deletions.NoFailure {
		return c.stop(ctx, e, deletions.Rejected, why)
	}
	return c.move(ctx, e, deletions.Accepted, nil)
}

// objection says why a received request cannot be carried out, or NoFailure.
func (c *Coordinator) objection(e deletions.Entry, targets []lethe.Target) (deletions.FailureCode, error) {
	if c.o.OneHop && e.Scope == lethe.ScopeShard {
		// Rows of other shards hold a mean of the erased one, and this scope
		// would leave them as they are.
		c.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
			"request_id", e.RequestID)
		return deletions.RejectedScope, nil
	}
	located, err := c.graphs.Locate(targets)
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
	c.o.Logger.Warn("erasure rejected: transactions are unknown",
		"request_id", e.RequestID, "unknown", unknown, "named", len(targets))
	return deletions.RejectedUnknown, nil
}
