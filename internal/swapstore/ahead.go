package swapstore

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// ahead is a set of changes that is being applied while its writer continues. No reader sees the store without
// them: other writers wait or queue behind them, and readers wait if they read keys that may change.
type ahead struct {
	// before is the preceding set, nil once that is applied.
	before *ahead
	// kinds are the first bytes of the changed keys.
	kinds kinds
	// applied is closed once the changes can be read or have failed.
	applied chan struct{}
}

// kinds is a set of first bytes of keys.
type kinds [256]bool

func (k *kinds) add(key []byte) {
	if len(key) > 0 {
		k[key[0]] = true
		return
	}
	for i := range k {
		k[i] = true
	}
}

// has reports whether keys with the prefix may be of one of the kinds.
func (k *kinds) has(prefix []byte) bool { return len(prefix) == 0 || k[prefix[0]] }

// ApplyUnsynced is Apply whose changes become durable with Sync or a later Apply. If the machine crashes before,
// they are lost together with all later changes. Like ApplyAhead, it waits only for fn.
func (s *Store) ApplyUnsynced(fn func(w Writer) error) error {
	return s.applyAhead(nothing, fn, pebble.NoSync, func(error) {})
}

// ApplyAhead is Apply that waits only for fn. Reads and writes after it returns see the changes. Once the changes
// are durable, or have failed, it calls ended with the result in another goroutine; Close and Rewrite wait for
// that. Later changes become durable later. After a failure all further writes fail.
func (s *Store) ApplyAhead(fn func(w Writer) error, ended func(error)) error {
	return s.applyAhead(nothing, fn, pebble.Sync, ended)
}

// ApplyAheadBehind is ApplyAhead that runs first, after fn, in the other goroutine, and applies the changes only if
// it succeeds. An error of first counts as a failure to apply.
func ApplyAheadBehind(s *Store, first func() error, fn func(w Writer) error, ended func(error)) error {
	return s.applyAhead(first, fn, pebble.Sync, ended)
}

func nothing() error { return nil }

func (s *Store) applyAhead(
	first func() error, fn func(w Writer) error, how *pebble.WriteOptions, ended func(error),
) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	a := &ahead{applied: make(chan struct{})}
	g, b, err := s.written(fn, &a.kinds)
	if err != nil {
		return err
	}
	g.readers.Add(1)
	s.queue.add(a)
	go func() {
		defer g.release()
		err := s.queue.apply(a, g, b, how, first())
		if err == nil && how.Sync {
			err = b.SyncWait()
		}
		if err = errors.Join(err, s.doneWith(g, b, err)); err != nil {
			err = fmt.Errorf("apply to generation %d: %w", g.number, err)
		}
		ended(err)
	}()
	return nil
}

// queue holds the changes that are being applied ahead.
type queue struct {
	mu   sync.Mutex
	last *ahead
	// failed is the error after which no further changes are applied.
	failed error
}

// add appends changes to the queue.
func (q *queue) add(a *ahead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.before, q.last = q.last, a
}

// apply applies changes after those before them, unless an error has occurred, and wakes their waiters.
func (q *queue) apply(a *ahead, g *generation, b *pebble.Batch, how *pebble.WriteOptions, failed error) error {
	q.before(a).wait()
	err := errors.Join(q.failure(), failed)
	switch {
	case err != nil:
	case how.Sync:
		err = g.db.ApplyNoSyncWait(b, how)
	default:
		err = g.db.Apply(b, how)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed = err
	if a.before = nil; q.last == a {
		q.last = nil
	}
	close(a.applied)
	return err
}

func (q *queue) before(a *ahead) *ahead {
	q.mu.Lock()
	defer q.mu.Unlock()
	return a.before
}

// failure returns the error after which nothing can be applied, if any.
func (q *queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// wait waits until all changes that may concern keys with the prefix are applied.
func (q *queue) wait(prefix []byte) {
	q.mu.Lock()
	a := q.last
	for a != nil && !a.kinds.has(prefix) {
		a = a.before
	}
	q.mu.Unlock()
	a.wait()
}

// wait waits until the changes, and with them all earlier ones, are applied.
func (a *ahead) wait() {
	if a != nil {
		<-a.applied
	}
}
