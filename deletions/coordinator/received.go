package coordinator

import (
	"context"

	"lethe"
	"lethe/deletions"
)

// received accepts or rejects requests that have just been read, and returns them as
// they are then.
func (s *states) received(ctx context.Context, list []deletions.Entry) (out []deletions.Entry, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if err := s.out.announce(ctx, list...); err != nil {
		return nil, err
	}
	var narrow, fine batch
	for _, e := range list {
		if s.o.rejects(e.Scope) {
			// Rows of other shards hold a mean of the erased one, and this scope
			// would leave them as they are.
			s.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
				"request_id", e.RequestID)
			narrow.members = append(narrow.members, e)
		} else {
			fine.members = append(fine.members, e)
		}
	}
	if len(narrow.members) > 0 {
		if narrow, err = s.stop(ctx, narrow, deletions.Rejected, deletions.RejectedScope); err != nil {
			return nil, err
		}
	}
	if len(fine.members) > 0 {
		if fine, err = s.moveAll(ctx, fine, deletions.Accepted, nil); err != nil {
			return nil, err
		}
	}
	return append(narrow.members, fine.members...), nil
}

// rejects reports whether requests of a scope are refused.
func (o *Options) rejects(scope lethe.Scope) bool { return o.OneHop && scope == lethe.ScopeShard }
