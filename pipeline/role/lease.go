package role

import (
	"cmp"
	"context"
	"time"

	"lethe/ingest"
	"lethe/pipeline/wire"
)

// leaseParts divides the session: a leader relies on a confirmation of brokers for that part of it.
const leaseParts = 2

// write calls write while this process leads in a term. A write during a network failure may take long, and another
// process may lead by then. So a write that is not acknowledged half a session after the last confirmation is
// cancelled, and repeated if this process still leads. Errors: ErrLedElsewhere, those of write.
func (l *Lead) write(ctx context.Context, term int64, write func(ctx context.Context, by wire.Owner) error) error {
	for {
		by, err := l.holds(ctx, term)
		if err != nil {
			return err
		}
		during, end := l.lease(ctx, term)
		err = write(during, by)
		lapsed := during.Err() != nil
		end()
		if err == nil || !lapsed || ctx.Err() != nil {
			return err
		}
	}
}

// lease returns a context that ends when it is no longer certain that this process leads in a term, and a function to
// release it.
func (l *Lead) lease(ctx context.Context, term int64) (context.Context, func()) {
	during, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes++
	number := l.writes
	l.writing[number] = cancel
	if !l.leads || l.term != term {
		cancel()
	}
	var timer *time.Timer
	timer = time.AfterFunc(l.left(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch left := l.left(); {
		case l.writing[number] == nil: // it has ended
		case left > 0:
			timer.Reset(left)
		default:
			cancel()
		}
	})
	return during, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.writing, number)
		timer.Stop()
		cancel()
	}
}

// left is the remaining time of the last confirmation. The lock is held.
func (l *Lead) left() time.Duration { return l.sharer.Session()/leaseParts - l.now().Sub(l.confirmed) }

// holds waits until it is certain that this process led in a term a moment ago: brokers have confirmed it within half a
// session, in which they elect no other leader. Errors: ErrLedElsewhere, the context's.
func (l *Lead) holds(ctx context.Context, term int64) (wire.Owner, error) {
	for {
		l.mu.Lock()
		now, changed := l.owner(), l.changed
		lost, left := !l.leads || l.term != term, l.left()
		l.mu.Unlock()
		switch {
		case lost:
			return wire.Owner{}, ErrLedElsewhere
		case left > 0:
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return wire.Owner{}, cmp.Or(ctx.Err(), ErrLedElsewhere)
		}
	}
}

// numbering numbers the records of control.v1 that a leader writes.
type numbering struct {
	// turn is a lock of last, the number of the last record.
	turn chan struct{}
	last int64
}

// write writes numbered records, one call after the other: readers ignore a record behind one with a greater number.
func (s *numbering) write(
	ctx context.Context, records []ingest.Outgoing, write func(counted []ingest.Outgoing) error,
) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	counted := wire.Counted(s.last, records)
	s.last += int64(len(records))
	return write(counted)
}
