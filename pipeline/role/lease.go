package role

import (
	"cmp"
	"context"
	"time"

	"lethe/ingest"
	"lethe/pipeline/wire"
)

// leaseParts is the part of a session for which a leader relies on what brokers last said.
const leaseParts = 2

// write has something written in a term, as long as this process leads in it. Who is cut off from
// brokers in the midst writes as long as it takes; by then another one may lead. So what is not
// acknowledged when brokers were last heard of half a session ago is given up, and written again
// if this process turns out to lead still. Errors: ErrLedElsewhere, those of write.
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

// lease returns a context that ends when it is not certain any more that this process leads in a
// term. It is to be ended, too.
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

// left is for how long what brokers last said is relied on. The lock is held.
func (l *Lead) left() time.Duration { return l.sharer.Session()/leaseParts - l.now().Sub(l.confirmed) }

// holds returns once it is certain that this process led in a term a moment ago: brokers said so
// after half a session, in which they would have made nobody else the leader. A process that was
// stopped for longer asks again. Errors: ErrLedElsewhere, the context's.
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

// sayings are the records of control.v1 that a process writes as the leader.
type sayings struct {
	// turn is taken by who writes, and goes before said, which counts them.
	turn chan struct{}
	said int64
}

// write has records written that tell which ones of this process's they are, one write after the other: readers leave
// out what comes behind a later one.
func (s *sayings) write(
	ctx context.Context, records []ingest.Outgoing, write func(counted []ingest.Outgoing) error,
) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	counted := wire.Counted(s.said, records)
	s.said += int64(len(records))
	return write(counted)
}
