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
func (s *Store) Apply(fn func(w Writer) error) error { return s.apply(fn, pebble.Sync) }

// ApplyUnsynced is Apply whose changes become durable with Sync or a later Apply. If the machine crashes before,
// they are lost together with all later changes.
func (s *Store) ApplyUnsynced(fn func(w Writer) error) error { return s.apply(fn, pebble.NoSync) }

func (s *Store) apply(fn func(w Writer) error, how *pebble.WriteOptions) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	g, err := s.writable()
	if err != nil {
		return err
	}
	b := g.newBatch(s.size)
	w := &batchWriter{b: b, touched: s.touched}
	if err = fn(w); err == nil {
		err = w.err
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	err = b.Commit(how)
	if err = errors.Join(err, g.doneWith(s.size, b, err)); err != nil {
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

// Sync makes all changes durable. Any goroutine may call it.
func (s *Store) Sync() error {
	g, err := s.acquire()
	if err != nil {
		return err
	}
	defer g.release()
	if err := g.db.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("sync generation %d: %w", g.number, err)
	}
	return nil
}

// newBatch returns an empty batch. The caller holds Store.writing, as that of doneWith.
func (g *generation) newBatch(size Size) *pebble.Batch {
	if b := g.spare; b != nil {
		g.spare = nil
		return b
	}
	if size.BatchBytes == 0 {
		return g.db.NewBatch()
	}
	return g.db.NewBatch(pebble.WithMaxRetainedSizeBytes(size.BatchBytes))
}

// doneWith keeps a large stored batch for reuse, and closes others. Pebble's own pool would share the memory among
// all its databases.
func (g *generation) doneWith(size Size, b *pebble.Batch, failed error) error {
	if size.BatchBytes == 0 || failed != nil {
		return b.Close()
	}
	b.Reset()
	g.spare = b
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
	return s.current, s.broken
}

type batchWriter struct {
	b       *pebble.Batch
	touched *touched
	err     error
}

// Set implements Writer.
func (w *batchWriter) Set(key, value []byte) { w.change(key, w.b.Set(key, value, nil)) }

// Delete implements Writer.
func (w *batchWriter) Delete(key []byte) { w.change(key, w.b.Delete(key, nil)) }

// change records that a key has changed, or not for an error.
func (w *batchWriter) change(key []byte, err error) {
	w.touched.key(key)
	if w.err == nil {
		w.err = err
	}
}
