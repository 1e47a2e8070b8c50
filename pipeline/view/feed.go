package view

import (
	"maps"
	"sync"
)

// Kind is a kind of change.
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

// Feed notifies of changes by kind, without content.
type Feed struct {
	mu sync.Mutex
	// changes counts them since the start.
	changes map[Kind]uint64
	// wake is closed at the next change.
	wake chan struct{}
}

func newFeed() *Feed { return &Feed{changes: make(map[Kind]uint64), wake: make(chan struct{})} }

func (f *Feed) notify(kinds ...Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range kinds {
		f.changes[k]++
	}
	close(f.wake)
	f.wake = make(chan struct{})
}

// Now returns the counts and a channel closed at the next change.
func (f *Feed) Now() (changes map[Kind]uint64, next <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.changes), f.wake
}
