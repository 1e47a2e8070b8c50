package deletions

import (
	"cmp"
	"slices"
)

// Open returns the requests in no final state.
func (l *Ledger) Open() ([]Entry, error) {
	return l.List(slices.DeleteFunc(States(), State.Final)...)
}

// Where is List of the requests that match. Only those are copied: match must neither change nor keep an entry, nor
// use the ledger.
func (l *Ledger) Where(match func(e *Entry) bool) ([]Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	var list []Entry
	for _, e := range l.known {
		if match(&e) {
			list = append(list, e.clone())
		}
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(a.Received().Compare(b.Received()), cmp.Compare(a.RequestID, b.RequestID))
	})
	return list, nil
}

// Count returns the number of requests in every state.
func (l *Ledger) Count() (map[State]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	counts := make(map[State]int, len(States()))
	for _, s := range States() {
		counts[s] = 0
	}
	for _, e := range l.known {
		counts[e.State]++
	}
	return counts, nil
}
