// Package precedence has work that is waited for go before work that can wait, within one process.
package precedence

import (
	"context"
	"sync"
)

// Rule knows how much work that is waited for is under way. The zero Rule is ready to use; nil is one by which nothing
// ever goes first. It may be used from several goroutines at once.
type Rule struct {
	mu    sync.Mutex
	first int
	// none is closed once nothing that goes first is under way; it is nil if nobody waits for that.
	none chan struct{}
}

// Begin notes that work begins which goes first. The caller calls end once, when it is done; work that waits for
// other work, and not for the processor alone, must not go first.
func (r *Rule) Begin() (end func()) {
	if r == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first++
	return r.end
}

func (r *Rule) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first--; r.first == 0 && r.none != nil {
		close(r.none)
		r.none = nil
	}
}

// Give gives way to what goes first: it returns as soon as nothing of it is under way, or the context ends, and
// reports whether there was anything to wait for. Who gave way goes on even if something begins right afterwards, so
// that nobody waits for ever.
func (r *Rule) Give(ctx context.Context) (waited bool) {
	if r == nil {
		return false
	}
	r.mu.Lock()
	if r.first == 0 {
		r.mu.Unlock()
		return false
	}
	if r.none == nil {
		r.none = make(chan struct{})
	}
	none := r.none
	r.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
	return true
}
