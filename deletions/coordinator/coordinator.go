package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Coordinator carries out the requests of a ledger. One goroutine uses it and its
// parts.
type Coordinator struct {
	// Requests takes what is asked for, Erased keeps what was erased from coming
	// back, Verification has what is left searched for.
	Requests     *Requests
	Erased       *Erased
	Verification *Verification

	states *states
	// counts are the requests by state.
	counts map[deletions.State]int
}

// New returns the coordinator of a ledger. Call Resume before anything else.
func New(o Options) *Coordinator {
	s := newStates(o)
	return &Coordinator{Requests: &Requests{s}, Erased: s.erased, Verification: s.verification, states: s}
}

// Counts returns the number of requests by state, as of the last Advance. The
// map is not changed later.
func (c *Coordinator) Counts() map[deletions.State]int { return c.counts }

// Resume tells the others again what the ledger says. The ledger is written
// before anybody is told, so a crash in between leaves commands and states that
// nobody was told of. Telling them twice is harmless.
func (c *Coordinator) Resume(ctx context.Context) error {
	open, err := c.states.o.Ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := c.states.out.repeat(ctx, e); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", e.RequestID, e.State, err)
		}
	}
	done, err := c.states.o.Ledger.List(deletions.Verified)
	if err != nil {
		return err
	}
	for _, e := range done {
		if _, err := c.states.verified(ctx, e); err != nil {
			return fmt.Errorf("request %s: %w", e.RequestID, err)
		}
	}
	return nil
}

// TakeNotices notes what the other roles acknowledged on erasure-status.v1.
func (c *Coordinator) TakeNotices(notices []wire.Notice) {
	c.states.dirty = true
	for _, n := range notices {
		if n.Ack != nil {
			c.states.acks.take(*n.Ack)
		}
	}
}

// Advance takes the oldest open request as far as it can go. Requests are
// carried out one after the other; all are suppressed when they come in.
func (c *Coordinator) Advance(ctx context.Context) (err error) {
	if !c.states.dirty {
		return nil
	}
	open, err := c.states.o.Ledger.Open()
	if err != nil {
		return err
	}
	oldest := events.ErasuresOpen{Count: len(open)}
	if len(open) > 0 {
		oldest.OldestReceived = open[0].Received()
	}
	c.states.o.Listener.ErasuresOpen(oldest)
	for _, e := range open {
		if e, err = c.states.drive(ctx, e); err != nil {
			return err
		}
		// One that failed is tried again later and keeps no other waiting.
		if !e.State.Final() && e.State != deletions.Failed {
			break
		}
	}
	c.counts, err = c.states.o.Ledger.Count()
	c.states.dirty = false
	return err
}

// Tick does what is due after a while: a failed request is tried again, and
// markers follow a withdrawal.
func (c *Coordinator) Tick(ctx context.Context) error {
	c.states.dirty = c.states.dirty || c.counts[deletions.Failed] > 0
	return c.states.out.rollLater(ctx)
}
