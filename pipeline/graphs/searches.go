package graphs

import (
	"context"
	"sync"
	"time"

	"lethe/deletions/coordinator"
)

// beside runs searches at the same time as the steps. Their end wakes the role.
type beside struct {
	run      func(search func())
	searcher coordinator.Searcher
	verdicts chan coordinator.Verdict
	wake     chan struct{}
	running  sync.WaitGroup
}

var _ Searches = (*beside)(nil)

func newBeside(s coordinator.Searcher, run func(search func())) *beside {
	return &beside{run: run, searcher: s, verdicts: make(chan coordinator.Verdict, together), wake: make(chan struct{}, 1)}
}

// together is how many searches there are at a time: one that locates, one that
// verifies.
const together = 2

// Begin implements Searches. A verdict is taken before the next search of its kind
// begins.
func (b *beside) Begin(ctx context.Context, s *coordinator.Search) {
	b.running.Add(1)
	b.run(func() {
		defer b.running.Done()
		b.verdicts <- b.searcher.Run(ctx, s)
		b.ring()
	})
}

// Wake implements Searches.
func (b *beside) Wake(after time.Duration) { time.AfterFunc(after, b.ring) }

// ring wakes the role, unless that is about to happen.
func (b *beside) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Verdict implements Searches.
func (b *beside) Verdict() (coordinator.Verdict, bool) {
	select {
	case v := <-b.verdicts:
		return v, true
	default:
		return coordinator.Verdict{}, false
	}
}

// Wait implements Searches.
func (b *beside) Wait() { b.running.Wait() }
