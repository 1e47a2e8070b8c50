package swapstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

const bulkBatchBytes = 1 << 20

// Rewrite replaces the whole content: fill reads the old from src and sets in
// dst what shall be there from now on, keys ascending, each once. When Rewrite
// returns nil, the new content is durable and every file of the old one is
// unlinked. Writers wait until it is done; readers go on, and see the old content or,
// once it is complete, the new.
//
// On an error the old content stays and what was written of the new is
// removed, with two exceptions: ErrUncertain and ErrLeftovers. A cancelled
// context is such an error, until the switch has begun.
func (s *Store) Rewrite(ctx context.Context, fill func(src Reader, dst Writer) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	old, err := s.writable()
	if err != nil {
		return err
	}
	fs := s.fs
	if err := sweep(fs, s.dir, old.number); err != nil {
		return fmt.Errorf("rewrite: %w", err)
	}
	g, err := s.fillNext(ctx, old, fill)
	if err != nil {
		return fmt.Errorf("rewrite of generation %d: %w", old.number, errors.Join(err, sweep(fs, s.dir, old.number)))
	}
	if err := s.switchTo(old, g); err != nil {
		return fmt.Errorf("switch to generation %d: %w", g.number, err)
	}
	old.readers.Wait()
	err = old.db.Close()
	if err = errors.Join(err, sweep(fs, s.dir, g.number)); err != nil {
		return fmt.Errorf("%w: generation %d: %w", ErrLeftovers, old.number, err)
	}
	return nil
}

// fillNext writes the next generation and makes it durable, without pointing
// at it yet.
func (s *Store) fillNext(
	ctx context.Context, old *generation, fill func(src Reader, dst Writer) error,
) (*generation, error) {
	g, err := s.openGeneration(old.number+1, true)
	if err != nil {
		return nil, err
	}
	w := &bulkWriter{ctx: ctx, db: g.db, batch: g.db.NewBatch()}
	err = fill(old, w)
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, w.discard(), g.db.Close())
	}
	return g, nil
}

// switchTo points at the new generation. If that fails, the new one is removed
// when the pointer is known to name the old; otherwise the store is broken.
func (s *Store) switchTo(old, g *generation) error {
	fs := s.fs
	begun, err := writePointer(fs, s.dir, g.number)
	if err == nil {
		s.mu.Lock()
		s.current = g
		s.mu.Unlock()
		return nil
	}
	err = errors.Join(err, g.db.Close())
	if !begun {
		return errors.Join(err, sweep(fs, s.dir, old.number))
	}
	s.mu.Lock()
	s.broken = ErrUncertain
	s.mu.Unlock()
	return errors.Join(ErrUncertain, err)
}

// bulkWriter fills a new generation in batches that are made durable together
// at the end.
type bulkWriter struct {
	//nolint:containedctx // lives for one call of Rewrite, whose context it is
	ctx   context.Context
	db    *pebble.DB
	batch *pebble.Batch
	last  []byte
	begun bool
}

// Set implements Writer.
func (w *bulkWriter) Set(key, value []byte) error {
	if w.begun && bytes.Compare(key, w.last) <= 0 {
		return ErrOrder
	}
	w.begun = true
	w.last = append(w.last[:0], key...)
	if err := w.batch.Set(key, value, nil); err != nil {
		return err
	}
	if w.batch.Len() < bulkBatchBytes {
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return w.next()
}

// Delete implements Writer.
func (w *bulkWriter) Delete([]byte) error { return ErrOrder }

// next commits the batch and starts another. Nothing is synced: until the
// pointer names this generation, a crash may lose any of it.
func (w *bulkWriter) next() error {
	b := w.batch
	w.batch = w.db.NewBatch()
	if err := errors.Join(b.Commit(pebble.NoSync), b.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// finish makes everything durable in table files.
func (w *bulkWriter) finish() error {
	if err := w.next(); err != nil {
		return err
	}
	if err := w.discard(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := w.db.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// discard drops the changes not yet committed.
func (w *bulkWriter) discard() error {
	if w.batch == nil {
		return nil
	}
	b := w.batch
	w.batch = nil
	return b.Close()
}
