package deletions

import "lethe"

// What tests do with one request alone.

// Receive is TakeAll of a request that has just been received. Errors: those of
// NewEntry, too.
func (l *Ledger) Receive(secret lethe.Secret, r lethe.ErasureRequest) (Entry, error) {
	fresh, err := NewEntry(secret, r, l.clock())
	if err != nil {
		return Entry{}, err
	}
	return l.Take(fresh)
}

// Take is TakeAll of one entry.
func (l *Ledger) Take(fresh Entry) (Entry, error) {
	list, errs, err := l.TakeAll([]Entry{fresh})
	if err != nil {
		return Entry{}, err
	}
	return list[0], errs[0]
}

// Transition is TransitionAll of one request that changes its progress only.
func (l *Ledger) Transition(requestID string, to State, update func(*Progress)) (Entry, error) {
	return one(l.TransitionAll([]string{requestID}, to, func(_ int, e *Entry) {
		if update != nil {
			update(&e.Progress)
		}
	}))
}

// Retry moves a failed request back to the state it failed in.
func (l *Ledger) Retry(requestID string) (Entry, error) {
	return one(l.RetryAll([]string{requestID}, nil))
}

// Stop is StopAll of one request.
func (l *Ledger) Stop(requestID string, to State, code FailureCode) (Entry, error) {
	return one(l.StopAll([]string{requestID}, to, code))
}

// Update is UpdateAll of one request.
func (l *Ledger) Update(requestID string, update func(*Progress)) (Entry, error) {
	return one(l.UpdateAll([]string{requestID}, func(_ int, p *Progress) { update(p) }))
}

func one(list []Entry, err error) (Entry, error) {
	if err != nil {
		return Entry{}, err
	}
	return list[0], nil
}
