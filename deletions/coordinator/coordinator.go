package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/metrics/events"
)

// Coordinator carries out the requests of a ledger. One goroutine uses it.
type Coordinator struct {
	o      Options
	ledger *deletions.Ledger
	graphs Graphs
	steps  map[deletions.State]step
	// jobs are the requests whose targets are still needed, in the order received.
	jobs   []job
	acks   acks
	out    outbox
	erased erased
	// search is the verification under way, or nil; handed says that it runs.
	search *Search
	handed bool
	// dirty says that a request may be able to go on.
	dirty bool
	// counts are the requests by state.
	counts map[deletions.State]int
}

// step does what a request's state announces, if it can be done now, and returns
// the entry as it is then. The same state and attempt mean that it has to wait.
type step func(ctx context.Context, e deletions.Entry) (deletions.Entry, error)

// New returns the coordinator of a ledger. Call Resume before anything else.
func New(o Options) *Coordinator {
	if o.Receipts == nil {
		o.Receipts = receiptFolder(o.ReceiptsDir)
	}
	c := &Coordinator{
		o: o, ledger: o.Ledger, graphs: o.Graphs, acks: make(acks), dirty: true,
		out:    outbox{bus: o.Bus, graphs: o.Graphs, clock: o.Clock, listener: o.Listener},
		erased: erased{ledger: o.Ledger, secret: o.Secret},
	}
	c.steps = map[deletions.State]step{
		deletions.Received:   c.received,
		deletions.Accepted:   c.accepted,
		deletions.Rejected:   c.rejected,
		deletions.Suppressed: c.suppressed,
		deletions.Rewriting:  c.rewriting,
		deletions.Retraining: c.retraining,
		deletions.Swapped:    c.swapped,
		deletions.Verifying:  c.verifying,
		deletions.Verified:   c.verified,
		deletions.Failed:     c.failed,
	}
	return c
}

// Counts returns the number of requests by state, as of the last Advance. The
// map is not changed later.
func (c *Coordinator) Counts() map[deletions.State]int { return c.counts }

// Resume tells the others again what the ledger says. The ledger is written
// before anybody is told, so a crash in between leaves commands and states that
// nobody has heard of. Hearing them twice is harmless.
func (c *Coordinator) Resume(ctx context.Context) error {
	open, err := c.ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := c.out.repeat(ctx, e); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", e.RequestID, e.State, err)
		}
	}
	done, err := c.ledger.List(deletions.Verified)
	if err != nil {
		return err
	}
	for _, e := range done {
		if _, err := c.verified(ctx, e); err != nil {
			return fmt.Errorf("request %s: %w", e.RequestID, err)
		}
	}
	return nil
}

// Advance takes the oldest open request as far as it can go. Requests are
// carried out one after the other; all are suppressed when they come in.
func (c *Coordinator) Advance(ctx context.Context) (err error) {
	if !c.dirty {
		return nil
	}
	open, err := c.ledger.Open()
	if err != nil {
		return err
	}
	oldest := events.ErasuresOpen{Count: len(open)}
	if len(open) > 0 {
		oldest.OldestReceived = open[0].Received()
	}
	c.o.Listener.ErasuresOpen(oldest)
	for _, e := range open {
		if e, err = c.drive(ctx, e); err != nil {
			return err
		}
		// One that failed is tried again later and keeps no other waiting.
		if !e.State.Final() && e.State != deletions.Failed {
			break
		}
	}
	c.counts, err = c.ledger.Count()
	c.dirty = false
	return err
}

// drive steps through the states until the request is done or has to wait.
func (c *Coordinator) drive(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	for {
		next, err := c.steps[e.State](ctx, e)
		if err != nil {
			return e, fmt.Errorf("request %s in state %s: %w", e.RequestID, e.State, err)
		}
		if next.State == e.State && next.Attempts == e.Attempts || next.State.Final() {
			return next, nil
		}
		e = next
	}
}

// Tick does what is due after a while: a failed request is tried again, and
// markers follow a withdrawal.
func (c *Coordinator) Tick(ctx context.Context) error {
	c.dirty = c.dirty || c.counts[deletions.Failed] > 0
	return c.out.rollLater(ctx)
}

// move makes a transition and announces it.
func (c *Coordinator) move(
	ctx context.Context, e deletions.Entry, to deletions.State, update func(*deletions.Progress),
) (deletions.Entry, error) {
	e, err := c.ledger.Transition(e.RequestID, to, update)
	if err != nil {
		return e, err
	}
	return e, c.out.announce(ctx, e)
}

// stop ends a request, or a try, and says why.
func (c *Coordinator) stop(
	ctx context.Context, e deletions.Entry, to deletions.State, why deletions.FailureCode,
) (deletions.Entry, error) {
	e, err := c.ledger.Stop(e.RequestID, to, why)
	if err != nil {
		return e, err
	}
	return e, c.out.announce(ctx, e)
}
