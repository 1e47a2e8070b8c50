// Package spares is a free list of a few values whose memory is reused. A sync.Pool would release the memory after
// two garbage collections, and fresh memory is slower than the work done in it.
package spares

import (
	"cmp"
	"sync"
)

// Most is the default capacity of a list: one value being filled, one being processed and one waiting.
const Most = 3

// List is a free list. Its zero value is empty. It may be used from several goroutines.
type List[T any] struct {
	// Most is the capacity, if not 0; it must be set before the list is used.
	Most int

	mu     sync.Mutex
	values []T
}

// Take removes and returns the value added last, if any.
func (l *List[T]) Take() (value T, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.values)
	if n == 0 {
		return value, false
	}
	value = l.values[n-1]
	l.values = l.values[:n-1]
	return value, true
}

// Keep adds a value, and reports whether there was room for it.
func (l *List[T]) Keep(value T) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.values) == cmp.Or(l.Most, Most) {
		return false
	}
	l.values = append(l.values, value)
	return true
}
