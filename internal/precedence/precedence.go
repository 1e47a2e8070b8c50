// Package precedence gives urgent work priority over background work within one process.
package precedence

import (
	"context"
	"sync"
)

// Rule counts the urgent work in progress. The zero Rule is ready to use; with a nil Rule nothing is urgent. It may
// be used from several goroutines.
type Rule struct {
	mu    sync.Mutex
	first int
	// none is closed once no urgent work is in progress; it is nil if nothing waits for that.
	none chan struct{}
}

// Begin registers urgent work. The caller must call end once when the work is done. Work that waits for other work,
// and not only for the processor, must not be urgent.
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

// Give waits until no urgent work is in progress or the context ends, and reports whether it had to wait. The
// caller then proceeds even if new urgent work begins, so that background work cannot starve.
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
