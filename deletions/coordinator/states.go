package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/batch"
)

// states moves requests from state to state.
type states struct {
	*core
	// steps are those of batches.
	steps        map[deletions.State]step
	queue        queue
	scrubs       *scrubs
	failedAt     tries
	splits       splits
	verification *Verification
	withdrawing  *withdrawing
	receipts     receipts
	cancelled    *cancellations
	deadlines    deadlines
	holds        *holds
	signed       signatures
	awaiting     awaiting
}

// step does the work of a state if possible and returns the batch afterwards, or the part still in that state. An
// unchanged state and attempt mean that it waits.
type step func(ctx context.Context, b batch.Batch) (batch.Batch, error)

func newStates(o Options) *states {
	c := newCore(o)
	s := &states{
		core: c, queue: queue{window: o.BatchWindow}, scrubs: &scrubs{graphs: o.Graphs, made: make(map[string]int)},
		failedAt: make(tries), splits: make(splits), cancelled: &cancellations{core: c, pending: make(map[string]int)},
		deadlines: deadlines{core: c}, signed: signatures{c}, receipts: receipts{c}, awaiting: awaiting{core: c},
	}
	s.holds = &holds{core: c, signed: s.signed, cancelled: s.cancelled}
	s.verification = &Verification{core: c}
	s.withdrawing = &withdrawing{core: c, search: s.verification, purged: make(map[string]bool)}
	last := &verifying{
		core: c, search: s.verification, withdrawing: s.withdrawing, scrubs: s.scrubs, splits: s.splits, holds: s.holds,
		signed: s.signed, receipts: s.receipts,
	}
	s.steps = map[deletions.State]step{
		deletions.Rewriting:  s.rewriting,
		deletions.Retraining: s.retraining,
		deletions.Swapped:    s.swapped,
		deletions.Erased:     last.erasedEverywhere,
		deletions.Verified:   s.receipts.verified,
		deletions.Failed:     s.failed,
	}
	return s
}

// drive steps through the states until the batch is done or waits.
func (s *states) drive(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	for {
		next, err := s.steps[b.State()](ctx, b)
		if err != nil {
			return b, fmt.Errorf("request %s in state %s: %w", b.Leader, b.State(), err)
		}
		if next.State() == b.State() && next.Attempts() == b.Attempts() || next.State().Final() {
			return next, nil
		}
		b = next
	}
}

// carryOut advances the batches that have begun, and begins others until one holds them up.
func (s *states) carryOut(ctx context.Context, begun []batch.Batch) (err error) {
	for _, b := range begun {
		if b, err = s.drive(ctx, b); err != nil {
			return err
		}
		if b.HoldsUp() {
			s.queue.busy, s.queue.due = s.now(), time.Time{}
			return nil
		}
	}
	for {
		b, begins, err := s.gather(ctx)
		if err != nil || !begins {
			return err
		}
		if b, err = s.drive(ctx, b); err != nil {
			return err
		}
		if b.HoldsUp() {
			s.queue.busy = s.now()
			return nil
		}
	}
}

// gather begins the next batch of suppressed requests. The ledger stores all members in one write before anything is
// rewritten.
func (s *states) gather(ctx context.Context) (b batch.Batch, begins bool, err error) {
	s.queue.due = time.Time{}
	list, err := s.o.Ledger.List(deletions.Suppressed)
	if err != nil {
		return b, false, err
	}
	// The targets of others are read a second time after a restart.
	list = slices.DeleteFunc(list, func(e deletions.Entry) bool { return s.jobs.of(e.RequestID) == nil })
	if len(list) == 0 {
		return b, false, nil
	}
	coming, err := s.o.Ledger.List(deletions.Accepted)
	if err != nil {
		return b, false, err
	}
	now, first, last := s.now(), list[0].Received(), list[len(list)-1].Received()
	if len(coming) > 0 {
		// Score has been commanded to suppress them.
		last = now
	}
	due := s.queue.begins(first, last, now)
	for _, e := range list {
		due = earliest(due, e.Deadline)
	}
	if due.After(now) {
		s.queue.due, s.queue.computed = due, now.Round(0)
		return b, false, nil
	}
	b = pick(list, s.o.Limits.MaxErasureNodes)
	b, err = s.move(ctx, b, deletions.Rewriting, func(_ int, e *deletions.Entry) {
		e.Batch = deletions.Batch{Leader: b.Leader, Size: len(b.Members)}
	})
	return b, err == nil, err
}
