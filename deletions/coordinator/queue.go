package coordinator

import (
	"context"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/batch"
)

// queue decides when suppressed requests begin.
type queue struct {
	// window is the longest wait of a batch's first request. A small part of it without a new request ends it too.
	window time.Duration
	// busy is when a batch last held up others. Requests received before have waited and begin at once.
	busy time.Time
	// due is when the next batch begins; zero for none.
	due time.Time
	// computed is the time of day at which due was computed.
	computed time.Time
}

// waits reports whether the next batch is not yet due. It is if the clock was set back since.
func (q *queue) waits(now time.Time) bool {
	day := now.Round(0) // that of the wall clock alone
	return q.due.IsZero() || day.Before(q.due) && !day.Before(q.computed)
}

// quietPart is the divisor of the window that must pass without a request.
const quietPart = 20

// begins is when a batch begins, given the times of receipt of its first and last request.
func (q *queue) begins(first, last, now time.Time) time.Time {
	if !first.After(q.busy) || last.After(now) {
		// The clock was set back if last is after now.
		return now
	}
	return earliest(first.Add(q.window), last.Add(q.window/quietPart))
}

// pick takes the requests of the next batch from a list in order of receipt, and returns them in that order: the
// request with the first deadline, or the oldest, which leads, and others of its scope, with so many targets together
// at most.
func pick(list []deletions.Entry, most int) batch.Batch {
	urgent := slices.Clone(list)
	slices.SortStableFunc(urgent, func(a, b deletions.Entry) int {
		switch {
		case a.Deadline.Equal(b.Deadline):
			return 0
		case earliest(a.Deadline, b.Deadline).Equal(a.Deadline):
			return -1
		default:
			return 1
		}
	})
	leader, targets := urgent[0], 0
	picked := make(map[string]bool)
	for _, e := range urgent {
		fits := len(picked) == 0 || targets+len(e.Targets) <= most
		if e.Scope == leader.Scope && fits {
			picked[e.RequestID], targets = true, targets+len(e.Targets)
		}
	}
	return batch.Batch{Leader: leader.RequestID, Members: list}.Where(func(e deletions.Entry) bool {
		return picked[e.RequestID]
	})
}

// deadlines tracks the deadlines of open requests.
type deadlines struct {
	*core
	// next is the first deadline ahead, or zero.
	next time.Time
}

// overdue returns the open requests, after it has recorded and published which have become overdue.
func (d *deadlines) overdue(ctx context.Context) (open []deletions.Entry, err error) {
	if open, err = d.o.Ledger.Open(); err != nil {
		return nil, err
	}
	var late []string
	now := d.now()
	d.next = time.Time{}
	for _, e := range open {
		switch {
		case e.Deadline.IsZero() || e.Progress.Overdue || e.State == deletions.Received:
		case e.Deadline.Before(now):
			late = append(late, e.RequestID)
		default:
			d.next = earliest(d.next, e.Deadline)
		}
	}
	if len(late) == 0 {
		return open, nil
	}
	overdue, err := d.o.Ledger.UpdateAll(late, func(_ int, p *deletions.Progress) { p.Overdue = true })
	if err != nil {
		return nil, err
	}
	d.o.Logger.Warn("erasures are overdue", "requests", len(overdue), "request_id", overdue[0].RequestID)
	if err := d.out.announce(ctx, overdue...); err != nil {
		return nil, err
	}
	return d.o.Ledger.Open()
}

func (d *deadlines) passed() bool { return !d.next.IsZero() && d.next.Before(d.now()) }

// earliest is the earlier of two times of which zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
