package role

import (
	"context"

	"lethe/ingest/bus"
)

// Replayer is a Logic that, as it stands by, does what entries of the journal say and nothing else.
type Replayer interface {
	Logic
	// Wants are the topics of which it takes more now.
	Wants() map[bus.Topic]bool
}

// replayed is the reading end of a Replayer.
type replayed struct {
	Tail
	logic Replayer
}

// Next implements Tail.
func (r replayed) Next(ctx context.Context) (bus.Batch, error) { return r.NextOf(ctx, r.logic.Wants()) }

// replays reports whether the role is a Replayer.
func (f *Follower) replays() bool {
	_, is := f.logic.(Replayer)
	return is
}

// StandByAgain has a process that is about to lead read on first: others have decided something since.
func (s *Standing) StandByAgain() error {
	s.Lead.mu.Lock()
	defer s.Lead.mu.Unlock()
	s.Lead.prepared = 0
	return ErrLedElsewhere
}
