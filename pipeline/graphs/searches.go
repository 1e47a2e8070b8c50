package graphs

import (
	"context"
	"sync"

	"lethe/deletions/coordinator"
)

// beside runs searches in a goroutine of their own, whose end wakes the role.
type beside struct {
	searcher coordinator.Searcher
	verdicts chan coordinator.Verdict
	wake     chan struct{}
	running  sync.WaitGroup
}

var _ Searches = (*beside)(nil)

func newBeside(s coordinator.Searcher) *beside {
	return &beside{searcher: s, verdicts: make(chan coordinator.Verdict, 1), wake: make(chan struct{}, 1)}
}

// Begin implements Searches. A verdict is taken before the next search begins.
func (b *beside) Begin(ctx context.Context, s *coordinator.Search) {
	b.running.Go(func() {
		b.verdicts <- b.searcher.Run(ctx, s)
		select {
		case b.wake <- struct{}{}:
		default:
		}
	})
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
