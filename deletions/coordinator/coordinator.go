// Package coordinator carries out erasures: it moves requests through their states, verifies them and issues receipts.
// It uses the graphs through Graphs and everything else through Bus.
//
// A Coordinator is passive: its caller passes records and calls Advance. It starts no goroutine; the caller runs the
// searches (Verification.Next) in another one.
//
//	requests.go, signed.go      records of erasures.v1 and their signatures
//	states.go, batches.go       the state machine; requests that run together
//	<state>.go, planner.go      the step of a state; what rewriting will change
//	cancelled.go, held.go       cancelled requests; holds
//	acks.go, outbox.go          acknowledgements of the roles; what is published
//	returning.go, withdrawal.go, located.go  records that name what was erased
//	verification.go, search.go, topics.go, cleaning.go  the searches
//
// Every step can be repeated: its state is stored before, messages have the same keys and bytes again, and the graphs'
// methods are idempotent. A crash only repeats a step.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Coordinator carries out the requests of a ledger. It is for one goroutine.
type Coordinator struct {
	// Requests reads erasures.v1, Erased keeps erased records out of topics, Verification hands out searches.
	Requests     *Requests
	Erased       *Erased
	Verification *Verification

	states *states
	counts map[deletions.State]int
}

// New returns the coordinator of a ledger. Call Resume before anything else.
func New(o Options) *Coordinator {
	s := newStates(o)
	return &Coordinator{Requests: &Requests{s}, Erased: s.erased, Verification: s.verification, states: s}
}

// Counts returns the requests by state at the last Advance. The map is not changed later.
func (c *Coordinator) Counts() map[deletions.State]int { return c.counts }

// Waits returns what open requests waited for at the last Tick.
func (c *Coordinator) Waits() deletions.Waits { return c.states.awaiting.waits }

// Resume publishes the ledger's commands and statuses again: a crash after a write of the ledger may have prevented
// it.
func (c *Coordinator) Resume(ctx context.Context) error {
	open, err := c.states.o.Ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		if begun(e) {
			continue
		}
		if err := c.states.out.repeatAlone(ctx, e); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", e.RequestID, e.State, err)
		}
	}
	for _, b := range batches(open) {
		if err := c.states.out.repeat(ctx, b); err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", b.leader, b.state(), err)
		}
	}
	if err := c.states.cancelled.resume(ctx); err != nil {
		return err
	}
	done, err := c.states.o.Ledger.List(deletions.Verified)
	if err != nil {
		return err
	}
	for _, b := range batches(done) {
		if _, err := c.states.verified(ctx, b); err != nil {
			return fmt.Errorf("request %s: %w", b.leader, err)
		}
	}
	return c.states.o.Log.Publish(ctx, c.states.o.Bus)
}

// SayAgain says again what there is to say of requests on control.v1: who led before has written, in the place of that,
// records with some keys. Readers leave these out, and once the topic is compacted nothing else would be there for
// whoever reads it anew: no command, or an entry of before.
func (c *Coordinator) SayAgain(ctx context.Context, keys []string) error {
	for _, key := range sortedset.Of(keys) {
		id, command := wire.RequestOf(key)
		if id == "" {
			continue
		}
		e, err := c.states.o.Ledger.Get(id)
		switch {
		case err != nil && !errors.Is(err, deletions.ErrUnknownRequest):
			return err
		case err == nil && !command:
			err = c.states.out.copies(ctx, []deletions.Entry{e})
		case command:
			err = c.states.cancelled.commandAgain(ctx, key, id, e)
		default:
			err = nil // nobody knows the request
		}
		if err != nil {
			return fmt.Errorf("say again what stands of request %s: %w", id, err)
		}
	}
	return nil
}

// TellAgain is SayAgain for keys of erasure-status.v1: whoever asks for erasures would read where a request or a hold
// stood before, and who takes over would take the hold from there. Of what the ledger does not know nothing is told:
// this process has not read yet what that comes from, and tells of it when it does.
func (c *Coordinator) TellAgain(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	o, all := c.states.o, sortedset.Of(keys)
	holds, err := o.Ledger.Holds()
	if err != nil {
		return err
	}
	holds = slices.DeleteFunc(holds, func(h deletions.Hold) bool { return !slices.Contains(all, h.Key()) })
	if err := SayHolds(ctx, o.Bus, o.Secret, o.SigningKey, holds...); err != nil {
		return fmt.Errorf("tell again of holds: %w", err)
	}
	var statuses []deletions.Status
	for _, key := range all {
		e, err := o.Ledger.Get(key)
		if errors.Is(err, deletions.ErrUnknownRequest) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tell again of request %s: %w", key, err)
		}
		statuses = append(statuses, e.Status())
	}
	return c.states.out.publish(ctx, statuses)
}

// LogAgain is TellAgain for records of log.v1 that were read since this process leads.
func (c *Coordinator) LogAgain(ctx context.Context, read []ingest.Record) error {
	return c.states.o.Log.PublishAgain(ctx, c.states.o.Bus, read)
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
	if waits, err := c.waits(); err != nil || waits {
		return false, err
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
	waits, err := c.waits()
	switch {
	case err != nil:
		return err
	case waits:
		return c.states.o.Log.Publish(ctx, c.states.o.Bus)
	}
	// A step may make it dirty again.
	for again := true; again; again = c.states.dirty {
		c.states.dirty = false
		if err := c.advance(ctx); err != nil {
			return err
		}
	}
	if err := c.states.acks.logTakeOvers(c.states.o.Log); err != nil {
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
	c.states.o.Listener.ErasuresOpen(oldest)
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
	if err := c.states.accepted(ctx, accepted); err != nil {
		return err
	}
	return c.states.carryOut(ctx, batches(open))
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
	return c.states.out.rollLater(ctx)
}
