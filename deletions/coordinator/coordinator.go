// Package coordinator carries out erasures: it moves requests through their states, verifies them and issues receipts.
// It uses the graphs through Graphs and everything else through Bus.
//
// A Coordinator is passive: its caller passes records and calls Advance. It starts no goroutine; the caller runs the
// searches (Verification.Next) in another one. Each file uses those below it:
//
//	coordinator.go, again.go             the methods of a Coordinator
//	requests.go, intake.go               records of erasures.v1
//	states.go, queue.go                  the state machine; when requests begin
//	<state>.go, verify.go, withdraw.go   the step of a state; the last search; records to be withdrawn
//	verification.go, awaiting.go         what steps wait for: searches, rewritten files, acknowledgements
//	held.go, holds.go, signed.go         holds; missing signatures
//	cancelled.go, subjects.go            cancelled requests; requests for subjects
//	receipts.go                          receipts
//	commands.go, outbox.go               published records
//	planner.go, core.go, options.go      plans of rewriting; targets; interfaces to other packages
//
// Every step can be repeated: its state is stored before, messages have the same keys and bytes again, and the graphs'
// methods are idempotent. A crash only repeats a step.
package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/withdrawal"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Coordinator carries out the requests of a ledger. It is for one goroutine.
type Coordinator struct {
	// Requests reads erasures.v1, Records keeps erased records out of topics, Verification hands out searches.
	Requests     *Requests
	Records      *withdrawal.Records
	Verification *Verification

	states *states
	counts map[deletions.State]int
}

// New returns the coordinator of a ledger. Call Resume before anything else.
func New(o Options) *Coordinator {
	s := newStates(o)
	return &Coordinator{Requests: &Requests{s}, Records: s.records, Verification: s.verification, states: s}
}

// Counts returns the requests by state at the last Advance. The map is not changed later.
func (c *Coordinator) Counts() map[deletions.State]int { return c.counts }

// Waits returns the causes that open requests waited for at the last Tick.
func (c *Coordinator) Waits() deletions.Waits { return c.states.awaiting.waits }

// Resume publishes the ledger's commands and statuses again: a crash after a write of the ledger may have prevented
// it.
func (c *Coordinator) Resume(ctx context.Context) error {
	if err := c.repeatOpen(ctx); err != nil {
		return err
	}
	done, err := c.states.o.Ledger.List(deletions.Verified)
	if err != nil {
		return err
	}
	for _, b := range batch.Group(done) {
		if _, err := c.states.receipts.verified(ctx, b); err != nil {
			return fmt.Errorf("request %s: %w", b.Leader, err)
		}
	}
	return c.states.o.Log.Publish(ctx, c.states.o.Bus)
}

// repeatOpen publishes the commands and statuses of open requests.
func (c *Coordinator) repeatOpen(ctx context.Context) error {
	open, err := c.states.o.Ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		if batch.Begun(e) {
			continue
		}
		if err := c.states.out.repeatAlone(ctx, e); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", e.RequestID, e.State, err)
		}
	}
	for _, b := range batch.Group(open) {
		if err := c.states.out.repeat(ctx, b); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", b.Leader, b.State(), err)
		}
	}
	return c.states.cancelled.resume(ctx)
}

// Rejects reports whether requests of a scope are rejected: with one-hop features scope shard is not exact.
func (c *Coordinator) Rejects(scope lethe.Scope) bool { return c.states.o.rejects(scope) }

// Past returns the newest swapped requests that ran alone and without retries, oldest first.
func (c *Coordinator) Past(most int) ([]deletions.Entry, error) {
	list, err := c.states.o.Ledger.Where(func(e *deletions.Entry) bool {
		return e.State.IsSwapped() && e.Batch.Size <= 1 && e.Attempts == 0 && len(e.Progress.Slices) > 0
	})
	return list[max(0, len(list)-most):], err
}

// Changes reports whether Advance may change graphs now.
func (c *Coordinator) Changes() (bool, error) {
	if c.waits() {
		return false, nil
	}
	counts, err := c.states.o.Ledger.Count()
	for state, n := range counts {
		if n > 0 && !state.Final() {
			return true, err
		}
	}
	return false, err
}

// Advance takes open requests as far as they can go. Each is suppressed at once; batches run one after the other
// except for the final search. The log is published before others learn of the progress.
func (c *Coordinator) Advance(ctx context.Context) (err error) {
	if c.waits() {
		return c.states.o.Log.Publish(ctx, c.states.o.Bus)
	}
	// A step may make it dirty again.
	for again := true; again; again = c.states.dirty {
		c.states.dirty = false
		if err := c.advance(ctx); err != nil {
			return err
		}
	}
	if err := c.states.acks.LogTakeOvers(c.states.o.Log); err != nil {
		return err
	}
	if err := c.states.o.Log.Publish(ctx, c.states.o.Bus); err != nil {
		return err
	}
	c.counts, err = c.states.o.Ledger.Count()
	return err
}

func (c *Coordinator) advance(ctx context.Context) error {
	open, err := c.states.deadlines.overdue(ctx)
	if err != nil {
		return err
	}
	if open, err = c.states.holds.apply(ctx, open); err != nil {
		return err
	}
	oldest := events.ErasuresOpen{Count: len(open)}
	if len(open) > 0 {
		oldest.OldestReceived = open[0].Received()
	}
	for _, e := range open {
		if e.Progress.Overdue {
			oldest.Overdue++
		}
	}
	c.states.o.Listener(oldest)
	if err := c.states.cancelled.conclude(ctx); err != nil {
		return err
	}
	if len(open) == 0 {
		if err := c.states.cancelled.sweep(ctx); err != nil {
			return err
		}
	}
	accepted := slices.DeleteFunc(slices.Clone(open), func(e deletions.Entry) bool {
		return e.State != deletions.Accepted
	})
	if err := c.Requests.accepted(ctx, accepted); err != nil {
		return err
	}
	return c.states.carryOut(ctx, batch.Group(open))
}

// Due is when Advance has something to do although nothing arrived, or zero.
func (c *Coordinator) Due() time.Time { return c.states.queue.due }

// Tick retries failed requests and writes due markers.
func (c *Coordinator) Tick(ctx context.Context) error {
	c.states.dirty = c.states.dirty || c.counts[deletions.Failed] > 0 || c.states.deadlines.passed() ||
		c.states.holds.passed()
	if err := c.states.awaiting.look(); err != nil {
		return err
	}
	return c.states.records.Tick(ctx)
}

// waits reports whether Advance has nothing to do until something arrives, ends or is due.
func (c *Coordinator) waits() bool {
	c.states.dirty = c.states.scrubs.end() || c.states.dirty
	return !c.states.dirty && c.states.queue.waits(c.states.now())
}

// HoldsOf returns the holds in force that would hold a request for some targets.
func (c *Coordinator) HoldsOf(targets []lethe.Target) ([]deletions.WaitsForHold, error) {
	return c.states.holds.ofTargets(targets)
}

// Plan returns the effects of a request now. Errors: lethe.ErrTarget, those of the stores.
func (c *Coordinator) Plan(ctx context.Context, targets []lethe.Target, scope lethe.Scope) (Plan, error) {
	request := deletions.Entry{Scope: scope}
	if err := lethe.CheckTargets(targets); err != nil {
		return Plan{}, err
	}
	for _, t := range targets {
		request.Targets = append(request.Targets, c.states.o.Secret.Suppressed(t))
	}
	plans, err := c.states.o.plan(ctx, batch.Of(request), [][]lethe.Target{targets})
	if err != nil {
		return Plan{}, err
	}
	return plans[0], nil
}

// TakeNotices receives new records of control.v1: processes, settings, acknowledgements and barriers. Errors are those
// of the ledger's store.
func (c *Coordinator) TakeNotices(notices []wire.Notice) error {
	c.states.dirty = true
	for _, n := range notices {
		if n.Strike != nil {
			if refusal := n.Strike.Refusal(c.states.o.Authority); refusal != nil {
				c.states.o.Logger.Warn("a strike was ignored: it must be signed by an admin",
					"role", n.Strike.Role, "instance", n.Strike.Identity, "reason", refusal.Reason, "detail", refusal.Detail)
				continue
			}
		}
		c.states.acks.Take(n)
		if n.Ack != nil {
			if err := c.states.out.answered(*n.Ack); err != nil {
				return err
			}
		}
		if n.Barrier != nil {
			c.states.verification.passes(*n.Barrier)
		}
	}
	return nil
}
