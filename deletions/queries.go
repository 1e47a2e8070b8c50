package deletions

import "slices"

// Open returns the requests that are not in a final state.
func (l *Ledger) Open() ([]Entry, error) {
	return l.List(slices.DeleteFunc(States(), State.Final)...)
}

// Count returns the number of requests by state, every state included.
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
