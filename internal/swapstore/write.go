package swapstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Writer receives changes. Keys and values are copied. The first error ends the writing: later changes have no
// effect, and the function that the writer was for returns it, such as Apply.
type Writer interface {
	// Set stores a value under a key.
	Set(key, value []byte)
	// Delete removes a key logically: its bytes stay on disk until the next Rewrite. Deleting an
	// absent key is harmless.
	Delete(key []byte)
}

// Apply makes the changes of fn atomically. They are durable when it returns nil. An error of fn
// is returned unchanged, and nothing changes. Readers, including fn, see none of the changes
// before Apply is done.
func (s *Store) Apply(fn func(w Writer) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.queue.wait(nil)
	g, b, err := s.written(fn, new(kinds))
	if err != nil {
		return err
	}
	err = b.Commit(pebble.Sync)
	if err = errors.Join(err, s.doneWith(g, b, err)); err != nil {
		return fmt.Errorf("apply to generation %d: %w", g.number, err)
	}
	return nil
}

// Applier is a store that makes changes atomically.
type Applier interface {
	Apply(fn func(w Writer) error) error
}

// Set stores one value.
func Set(s Applier, key, value []byte) error {
	return s.Apply(func(w Writer) error {
		w.Set(key, value)
		return nil
	})
}

// Delete deletes one key.
func Delete(s Applier, key []byte) error {
	return s.Apply(func(w Writer) error {
		w.Delete(key)
		return nil
	})
}

// Sync makes all changes durable. Any goroutine may call it.
func (s *Store) Sync() error {
	g, err := s.acquire(nil)
	if err != nil {
		return err
	}
	defer g.release()
	if err := s.queue.failure(); err != nil {
		return err
	}
	if err := g.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("sync generation %d: %w", g.number, err)
	}
	return nil
}

// written returns a batch of fn's changes and records the kinds of their keys. The caller holds s.writing.
func (s *Store) written(fn func(w Writer) error, changed *kinds) (*generation, *pebble.Batch, error) {
	g, err := s.writable()
	if err != nil {
		return nil, nil, err
	}
	b := s.newBatch(g)
	w := &batchWriter{b: b, changed: changed, touched: s.touched}
	err = fn(w)
	if err == nil {
		err = w.err
	}
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return g, b, nil
}

// newBatch returns an empty batch, allocated for the largest size so far.
func (s *Store) newBatch(g *generation) *pebble.Batch {
	if s.size.BatchBytes == 0 {
		return g.db.NewBatch()
	}
	if b, found := g.spare.Take(); found {
		return b
	}
	const spare = 8 // 1/8 of extra space, because batch sizes vary
	largest := int(g.largest.Load())
	room := min(largest+largest/spare, s.size.BatchBytes)
	return g.db.NewBatch(pebble.WithInitialSizeBytes(room), pebble.WithMaxRetainedSizeBytes(s.size.BatchBytes))
}

// doneWith keeps a large stored batch for reuse, and closes others. Pebble's own pool would share the memory among
// all its databases.
func (s *Store) doneWith(g *generation, b *pebble.Batch, failed error) error {
	if s.size.BatchBytes == 0 || failed != nil {
		return b.Close()
	}
	g.largest.Store(max(g.largest.Load(), int64(b.Len())))
	b.Reset()
	if !g.spare.Keep(b) {
		return b.Close()
	}
	return nil
}

// writable returns the current generation if writes are possible. The caller holds s.writing, so
// the generation stays current.
func (s *Store) writable() (*generation, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.current == nil {
		return nil, ErrClosed
	}
	return s.current, errors.Join(s.broken, s.queue.failure())
}

type batchWriter struct {
	b *pebble.Batch
	// changed are the kinds of the keys.
	changed *kinds
	touched *touched
	err     error
}

// Set implements Writer.
func (w *batchWriter) Set(key, value []byte) { w.change(key, w.b.Set(key, value, nil)) }

// Delete implements Writer.
func (w *batchWriter) Delete(key []byte) { w.change(key, w.b.Delete(key, nil)) }

// change records that a key has changed, or not for an error.
func (w *batchWriter) change(key []byte, err error) {
	w.changed.add(key)
	w.touched.key(key)
	if w.err == nil {
		w.err = err
	}
}
