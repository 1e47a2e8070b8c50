package roletest

import (
	"context"
	"errors"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// Session runs a role step by step, instead of waiting for topics and clock: for simulations of many roles in one
// goroutine.
type Session struct {
	role  *role.Follower
	opens *role.Beginning
}

// Begin begins to feed a role, which must not run by itself.
func Begin(ctx context.Context, r *role.Follower) (*Session, error) {
	opens, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	if err := opens.Begin(ctx); err != nil {
		return nil, errors.Join(err, opens.Tail.Close())
	}
	return &Session{role: r, opens: opens}, nil
}

// Poll processes the next batch, and reports whether there was one. Without a batch the role steps too: work beside
// the loop may have ended.
func (s *Session) Poll(ctx context.Context) (bool, error) {
	at, cancel := context.WithCancel(ctx)
	cancel()
	batch, err := s.opens.Tail.Next(at)
	nothing := errors.Is(err, context.Canceled) && ctx.Err() == nil
	if err != nil && !nothing {
		return false, err
	}
	if nothing {
		batch = bus.Batch{}
	}
	return !nothing, s.role.Arrived(ctx, batch, false)
}

// Tick reports a tick of the clock to the role.
func (s *Session) Tick(ctx context.Context) error {
	return s.role.Arrived(ctx, bus.Batch{}, true)
}

// Close ends the session. The role is still to be closed.
func (s *Session) Close() error { return s.opens.Tail.Close() }
