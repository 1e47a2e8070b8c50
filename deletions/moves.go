package deletions

import (
	"fmt"

	"lethe/deletions/internal/record"
)

// TransitionAll moves requests to a state without a failure code, all or none, in one write. update, which may be
// nil, gets each with its position and may change batch and progress. To leave Failed, move to the state that
// failed. Errors: ErrIllegalTransition, after which nothing has changed.
func (l *Ledger) TransitionAll(requestIDs []string, to State, update func(i int, e *Entry)) ([]Entry, error) {
	return l.move(requestIDs, Change{State: to}, update)
}

// StopAll moves requests to Failed or Rejected with the reason, in one write.
func (l *Ledger) StopAll(requestIDs []string, to State, code FailureCode) ([]Entry, error) {
	return l.move(requestIDs, Change{State: to, Failure: code}, nil)
}

// RetryAll moves requests that failed in one state back to it, in one write. update may be nil.
func (l *Ledger) RetryAll(requestIDs []string, update func(e *Entry)) ([]Entry, error) {
	var failedIn State
	for _, id := range requestIDs {
		e, err := l.Get(id)
		if err != nil {
			return nil, err
		}
		if e.State != Failed {
			return nil, fmt.Errorf("request %s: %w: retry from %s", id, ErrIllegalTransition, e.State)
		}
		failedIn = e.FailedIn
	}
	return l.TransitionAll(requestIDs, failedIn, func(_ int, e *Entry) {
		if update != nil {
			update(e)
		}
	})
}

// UpdateAll changes progress of requests within their state, in one write.
func (l *Ledger) UpdateAll(requestIDs []string, update func(i int, p *Progress)) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := l.readAll(requestIDs)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if e := &list[i]; e.State.Final() {
			return nil, fmt.Errorf("request %s: %w: progress in %s", e.RequestID, ErrIllegalTransition, e.State)
		}
		update(i, &list[i].Progress)
	}
	return list, l.commitAll(list)
}

func (l *Ledger) readAll(requestIDs []string) ([]Entry, error) {
	list := make([]Entry, len(requestIDs))
	for i, id := range requestIDs {
		var err error
		if list[i], err = l.read(id); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (l *Ledger) move(requestIDs []string, c Change, update func(int, *Entry)) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := l.readAll(requestIDs)
	if err != nil {
		return nil, err
	}
	c.At = record.Time(l.clock())
	for i := range list {
		if err := list[i].change(c); err != nil {
			return nil, fmt.Errorf("request %s: %w", list[i].RequestID, err)
		}
		if update != nil {
			update(i, &list[i])
		}
	}
	return list, l.commitAll(list)
}

func (e *Entry) change(c Change) error {
	if err := checkMove(e.State, e.FailedIn, c); err != nil {
		return err
	}
	if !c.Failure.Fits(c.State) {
		return fmt.Errorf("%w: code %q does not explain %s", ErrIllegalTransition, c.Failure, c.State)
	}
	if last := e.Updated(); c.At.Before(last) {
		c.At = last
	}
	if e.State == Failed || e.State == Held && c.State == Accepted {
		// The targets are suppressed again.
		e.Attempts++
	}
	e.FailedIn = ""
	if c.State == Failed {
		e.FailedIn = e.State
	}
	e.State = c.State
	e.History = append(e.History, c)
	return nil
}
