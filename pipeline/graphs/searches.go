package graphs

import (
	"context"
	"sync"
	"time"

	"lethe/deletions/coordinator"
)

// asyncSearches runs searches at the same time as the steps. Their end wakes the role.
type asyncSearches struct {
	run      func(search func())
	searcher coordinator.Searcher
	verdicts chan coordinator.Verdict
	wake     chan struct{}
	running  sync.WaitGroup
}

var _ Searches = (*asyncSearches)(nil)

func newAsyncSearches(s coordinator.Searcher, run func(search func())) *asyncSearches {
	return &asyncSearches{
		run: run, searcher: s,
		verdicts: make(chan coordinator.Verdict, maxSearches), wake: make(chan struct{}, 1),
	}
}

// maxSearches is how many searches there are at a time: one that locates, one that
// verifies.
const maxSearches = 2

// Begin implements Searches. A verdict is taken before the next search of its kind
// begins.
func (b *asyncSearches) Begin(ctx context.Context, s *coordinator.Search) {
	b.running.Add(1)
	b.run(func() {
		defer b.running.Done()
		b.verdicts <- b.searcher.Run(ctx, s)
		b.signal()
	})
}

// Wake implements Searches.
func (b *asyncSearches) Wake(after time.Duration) { time.AfterFunc(after, b.signal) }

// signal wakes the role, unless that is about to happen.
func (b *asyncSearches) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Verdict implements Searches.
func (b *asyncSearches) Verdict() (coordinator.Verdict, bool) {
	select {
	case v := <-b.verdicts:
		return v, true
	default:
		return coordinator.Verdict{}, false
	}
}

// Wait implements Searches.
func (b *asyncSearches) Wait() { b.running.Wait() }
