package view

import "sync"

// Kind is what changes in the view.
type Kind string

// The kinds.
const (
	Predictions Kind = "predictions"
	Alerts      Kind = "alerts"
	Timesteps   Kind = "timesteps"
	Erasures    Kind = "erasures"
	DeadLetters Kind = "dead_letters"
	Log         Kind = "log"
)

// Feed tells who waits that something has changed, and of which kind it is, but not what: nothing
// personal is in it.
type Feed struct {
	mu sync.Mutex
	// changes counts the changes of every kind since the process began.
	changes map[Kind]uint64
	// wake is closed at the next change.
	wake chan struct{}
}

func newFeed() *Feed { return &Feed{changes: make(map[Kind]uint64), wake: make(chan struct{})} }

func (f *Feed) tell(kinds ...Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range kinds {
		f.changes[k]++
	}
	close(f.wake)
	f.wake = make(chan struct{})
}

// Now returns how often each kind has changed, and what is closed at the next change.
func (f *Feed) Now() (changes map[Kind]uint64, next <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make(map[Kind]uint64, len(f.changes))
	for k, n := range f.changes {
		out[k] = n
	}
	return out, f.wake
}
