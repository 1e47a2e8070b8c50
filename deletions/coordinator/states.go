package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
)

// states moves requests from state to state; each has a file of its own.
type states struct {
	o      Options
	steps  map[deletions.State]step
	jobs   jobs
	acks   acks
	out    *outbox
	erased *Erased
	// verification is that under way, if there is one.
	verification *Verification
	// dirty says that a request may be able to go on.
	dirty bool
}

// step does what a request's state announces, if it can be done now, and returns
// the entry as it is then. The same state and attempt mean that it has to wait.
type step func(ctx context.Context, e deletions.Entry) (deletions.Entry, error)

func newStates(o Options) *states {
	out := &outbox{bus: o.Bus, graphs: o.Graphs, clock: o.Clock, listener: o.Listener}
	s := &states{
		o: o, jobs: jobs{notes: o.Notes}, acks: make(acks), out: out,
		erased: &Erased{ledger: o.Ledger, secret: o.Secret, bus: o.Bus, out: out}, dirty: true,
	}
	s.verification = &Verification{states: s}
	s.steps = map[deletions.State]step{
		deletions.Received:   s.received,
		deletions.Accepted:   s.accepted,
		deletions.Rejected:   s.rejected,
		deletions.Suppressed: s.suppressed,
		deletions.Rewriting:  s.rewriting,
		deletions.Retraining: s.retraining,
		deletions.Swapped:    s.swapped,
		deletions.Verifying:  s.verifying,
		deletions.Verified:   s.verified,
		deletions.Failed:     s.failed,
	}
	return s
}

// drive steps through the states until the request is done or has to wait.
func (s *states) drive(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	for {
		next, err := s.steps[e.State](ctx, e)
		if err != nil {
			return e, fmt.Errorf("request %s in state %s: %w", e.RequestID, e.State, err)
		}
		if next.State == e.State && next.Attempts == e.Attempts || next.State.Final() {
			return next, nil
		}
		e = next
	}
}

// move makes a transition and announces it.
func (s *states) move(
	ctx context.Context, e deletions.Entry, to deletions.State, update func(*deletions.Progress),
) (deletions.Entry, error) {
	e, err := s.o.Ledger.Transition(e.RequestID, to, update)
	if err != nil {
		return e, err
	}
	return e, s.out.announce(ctx, e)
}

// stop ends a request, or a try, and says why.
func (s *states) stop(
	ctx context.Context, e deletions.Entry, to deletions.State, why deletions.FailureCode,
) (deletions.Entry, error) {
	e, err := s.o.Ledger.Stop(e.RequestID, to, why)
	if err != nil {
		return e, err
	}
	return e, s.out.announce(ctx, e)
}
