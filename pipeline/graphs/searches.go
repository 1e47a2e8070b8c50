package graphs

import (
	"context"
	"time"

	"lethe/deletions/search"
	"lethe/pipeline/graphs/beside"
)

// Searches runs the searches of erasures and wakes the role.
type Searches interface {
	// Begin begins a search. It may run beside the steps until the context ends.
	Begin(ctx context.Context, s *search.Search)
	// Verdict returns the verdict of a search that has ended, once.
	Verdict() (search.Verdict, bool)
	// Wake wakes the role after a delay.
	Wake(after time.Duration)
	// Wait waits until no search runs.
	Wait()
}

// asyncSearches runs searches beside the steps. Their end wakes the role.
type asyncSearches struct {
	beside.Running
	searcher search.Searcher
	verdicts chan search.Verdict
	wakes    chan struct{}
}

func newAsyncSearches(s search.Searcher, o Options) *asyncSearches {
	return &asyncSearches{
		Running:  beside.Running{Start: o.Beside, Wake: func() { signal(o.wakes) }},
		searcher: s, verdicts: make(chan search.Verdict, maxSearches), wakes: o.wakes,
	}
}

// maxSearches is the number of concurrent searches: one that locates, one that verifies.
const maxSearches = 2

// Begin implements Searches. A verdict is received before the next search of its kind begins.
func (b *asyncSearches) Begin(ctx context.Context, s *search.Search) {
	b.Run(func() { b.verdicts <- b.searcher.Run(ctx, s) })
}

// Wake implements Searches.
func (b *asyncSearches) Wake(after time.Duration) { time.AfterFunc(after, func() { signal(b.wakes) }) }

// signal wakes the role unless a wake-up is pending.
func signal(wakes chan<- struct{}) {
	select {
	case wakes <- struct{}{}:
	default:
	}
}

// Verdict implements Searches.
func (b *asyncSearches) Verdict() (search.Verdict, bool) {
	select {
	case v := <-b.verdicts:
		return v, true
	default:
		return search.Verdict{}, false
	}
}
