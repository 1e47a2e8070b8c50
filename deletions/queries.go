package deletions

import (
	"slices"
	"time"

	"lethe"
)

// Open returns the requests that are not in a final state.
func (l *Ledger) Open() ([]Entry, error) {
	return l.List(slices.DeleteFunc(States(), State.Final)...)
}

// Count returns the number of requests by state, every state included.
func (l *Ledger) Count() (map[State]int, error) {
	list, err := l.List()
	if err != nil {
		return nil, err
	}
	counts := make(map[State]int, len(States()))
	for _, s := range States() {
		counts[s] = 0
	}
	for _, e := range list {
		counts[e.State]++
	}
	return counts, nil
}

// OldestOpenAge returns how long the oldest open request has been waiting, 0 if
// none is open. Held requests do not count: their waiting is wanted.
func (l *Ledger) OldestOpenAge() (time.Duration, error) {
	list, err := l.Open()
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if e.State != Held {
			return max(0, canonicalTime(l.clock()).Sub(e.Received())), nil
		}
	}
	return 0, nil
}

// Suppressed returns the keyed hashes of every record that must be dropped
// wherever it turns up, ascending: the list to apply after a restore too.
func (l *Ledger) Suppressed() ([]lethe.Digest, error) {
	list, err := l.List()
	if err != nil {
		return nil, err
	}
	var out []lethe.Digest
	for _, e := range list {
		if e.Suppresses() {
			out = append(out, e.Nodes...)
		}
	}
	slices.SortFunc(out, compareDigests)
	return slices.Compact(out), nil
}

// Searched is a fingerprint and the request it belongs to.
type Searched struct {
	RequestID   string
	Fingerprint Fingerprint
}

// VerifiedFingerprints returns the fingerprints of every verified request, in
// the order of List: what must not be found anywhere.
func (l *Ledger) VerifiedFingerprints() ([]Searched, error) {
	list, err := l.List(Verified)
	if err != nil {
		return nil, err
	}
	var out []Searched
	for _, e := range list {
		for _, f := range e.Progress.Fingerprints {
			out = append(out, Searched{e.RequestID, f})
		}
	}
	return out, nil
}
