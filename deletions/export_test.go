package deletions

import "lethe"

// What tests do with one request alone.

// Receive is Take of a request that has just been received. Errors: those of
// NewEntry, too.
func (l *Ledger) Receive(secret lethe.Secret, r lethe.ErasureRequest) (Entry, error) {
	fresh, err := NewEntry(secret, r, l.clock())
	if err != nil {
		return Entry{}, err
	}
	return l.Take(fresh)
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
