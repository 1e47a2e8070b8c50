package deletions

import (
	"cmp"
	"slices"
	"time"
)

// Open returns the requests that are not in a final state.
func (l *Ledger) Open() ([]Entry, error) {
	return l.List(slices.DeleteFunc(States(), State.Final)...)
}

// Where is List for the requests that match. The others are not copied, of which there are more and
// more: match is called with what the ledger has, neither changes it nor keeps it, and asks the
// ledger nothing.
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

// Awaited is a data directory whose answer some requests have lacked for long.
type Awaited struct {
	Role, Instance string
	// Requests counts them, Since is when the first of them came into its state, which is State.
	Requests int
	Since    time.Time
	State    State
}
