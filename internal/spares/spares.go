// Package spares keeps a few values whose memory is not used now, to be used again. A sync.Pool would give
// it to the garbage collector every other time that this runs, and memory that was not used before costs more
// than what is put there.
package spares

import (
	"cmp"
	"sync"
)

// Most is how many values a list keeps that says nothing else: one is filled while one is worked on and one is waited
// for.
const Most = 3

// List holds values that nobody uses. Its zero value is empty. Several goroutines may use it.
type List[T any] struct {
	// Most is how many it keeps, if not 0; it is set before the list is used.
	Most int

	mu     sync.Mutex
	values []T
}

// Take returns the value that was kept last, if there is one.
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

// Keep keeps a value, and reports whether there was room for it.
func (l *List[T]) Keep(value T) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.values) == cmp.Or(l.Most, Most) {
		return false
	}
	l.values = append(l.values, value)
	return true
}
