package coordinator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lethe/deletions"
)

// byDeadline puts requests with a deadline in front, the first deadline first, and keeps the
// order of the others.
func byDeadline(list []deletions.Entry) {
	slices.SortStableFunc(list, func(a, b deletions.Entry) int {
		switch {
		case a.Deadline.Equal(b.Deadline):
			return 0
		case a.Deadline.IsZero():
			return 1
		case b.Deadline.IsZero():
			return -1
		default:
			return a.Deadline.Compare(b.Deadline)
		}
	})
}

// byReceipt puts requests in the order received, as the ledger lists them.
func byReceipt(list []deletions.Entry) {
	slices.SortFunc(list, func(a, b deletions.Entry) int {
		return cmp.Or(a.Received().Compare(b.Received()), cmp.Compare(a.RequestID, b.RequestID))
	})
}

// bounded is when a batch begins of which the first deadline is this: a request does not
// wait for others past its deadline.
func bounded(due, deadline time.Time) time.Time {
	if !deadline.IsZero() && deadline.Before(due) {
		return deadline
	}
	return due
}

// deadlines notices which deadlines of open requests have passed.
type deadlines struct {
	*states
	// next is the first that has not passed, or zero.
	next time.Time
}

// overdue returns the open requests. It notes, and says, of which the deadline has passed
// since.
func (s *deadlines) overdue(ctx context.Context) (open []deletions.Entry, err error) {
	if open, err = s.o.Ledger.Open(); err != nil {
		return nil, err
	}
	var late []string
	now := s.o.Clock.Now()
	s.next = time.Time{}
	for _, e := range open {
		switch {
		case e.Deadline.IsZero() || e.Progress.Overdue || e.State == deletions.Received:
		case e.Deadline.Before(now):
			late = append(late, e.RequestID)
		case s.next.IsZero() || e.Deadline.Before(s.next):
			s.next = e.Deadline
		}
	}
	if len(late) == 0 {
		return open, nil
	}
	noted, err := s.o.Ledger.UpdateAll(late, func(_ int, p *deletions.Progress) { p.Overdue = true })
	if err != nil {
		return nil, err
	}
	s.o.Logger.Warn("erasures are overdue", "requests", len(noted), "request_id", noted[0].RequestID)
	if err := s.out.announce(ctx, noted...); err != nil {
		return nil, err
	}
	return s.o.Ledger.Open()
}

// passed reports whether a deadline has passed that had not.
func (s *deadlines) passed() bool {
	return !s.next.IsZero() && s.next.Before(s.o.Clock.Now())
}
