package swapstore

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// ahead are changes that are being applied while their writer goes on. Nobody sees a store without them: who writes
// waits for them, or queues behind them, and so does who reads what they may change.
type ahead struct {
	// before are those that are applied first, until they are.
	before *ahead
	// kinds are the first bytes of the keys that change.
	kinds kinds
	// applied is closed once they can be read, or cannot be applied.
	applied chan struct{}
}

// kinds are first bytes of keys.
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

// has reports whether a key with the prefix may be among those of the kinds.
func (k *kinds) has(prefix []byte) bool { return len(prefix) == 0 || k[prefix[0]] }

// ApplyUnsynced is Apply of changes that are durable once Sync or a later Apply has returned. If the machine stops
// before, they are lost with all that came after them. It waits for fn alone, as ApplyAhead does.
func (s *Store) ApplyUnsynced(fn func(w Writer) error) error {
	return s.applyAhead(nothing, fn, pebble.NoSync, func(error) {})
}

// ApplyAhead is Apply that waits for fn alone. Who reads or writes after it has returned finds the changes made. Once
// they are durable, or cannot be, which the error says, ended is called, in another goroutine; Close and Rewrite wait
// for that. What is applied later is durable later, and if something cannot be applied nothing can any more.
func (s *Store) ApplyAhead(fn func(w Writer) error, ended func(error)) error {
	return s.applyAhead(nothing, fn, pebble.Sync, ended)
}

// ApplyAheadBehind is ApplyAhead of changes that are not applied before first has returned, which is called after fn,
// in the other goroutine. Its error is one of applying them.
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

// queue is what is being applied ahead.
type queue struct {
	mu   sync.Mutex
	last *ahead
	// failed is why changes could not be applied: none is applied behind them.
	failed error
}

// add adds changes, which are to be applied.
func (q *queue) add(a *ahead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.before, q.last = q.last, a
}

// apply applies changes once those before them are, unless something has failed, and lets those go on that wait for
// them.
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

// failure returns why nothing can be applied any more, if that is so.
func (q *queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// wait waits until all changes are applied that may be of keys with a prefix.
func (q *queue) wait(prefix []byte) {
	q.mu.Lock()
	a := q.last
	for a != nil && !a.kinds.has(prefix) {
		a = a.before
	}
	q.mu.Unlock()
	a.wait()
}

// wait waits until the changes, and with them those before, are applied.
func (a *ahead) wait() {
	if a != nil {
		<-a.applied
	}
}
