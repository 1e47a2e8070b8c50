package swapstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Rewriting is a Rewrite in steps: readers and writers continue, except during Switch. The steps are called in
// order, from any goroutine:
//
//	r, err := BeginRewriting(s)
//	err = r.Fill(ctx, fill) // takes long
//	err = r.Switch()
//	err = r.Clean()         // may take long
//
// Keys deleted before BeginRewriting are not in the new files. Keys deleted or overwritten later may be. A step
// that fails ends the rewriting; its errors are those of Rewrite.
type Rewriting struct {
	s *Store
	// working is held by the running step.
	working sync.Mutex
	// old is the generation to be replaced, nil once it was replaced or the rewriting was abandoned.
	old *generation
	// then is a snapshot of old at BeginRewriting, nil once it was read.
	then *pebble.Snapshot
	// next is the new generation, nil before it is filled.
	next     *generation
	switched bool
	// uncertain means that the switch may have happened.
	uncertain bool
}

// BeginRewriting starts to rewrite a store from its current content. It waits for changes that are being applied.
// If another rewriting is in progress it returns ErrRewriting.
func BeginRewriting(s *Store) (*Rewriting, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.rewriting != nil {
		return nil, ErrRewriting
	}
	old, err := s.writable()
	if err != nil {
		return nil, err
	}
	s.rewriting, s.touched = &Rewriting{s: s, old: old, then: old.db.NewSnapshot()}, newTouched()
	return s.rewriting, nil
}

// caughtUp is how few keys may be left for Switch to copy; mostRounds is how many rounds Fill takes at most to get
// there.
const caughtUp, mostRounds = 256, 16

// Fill writes the new content: fill is that of Rewrite, and src is the store as of BeginRewriting. Keys written
// since then are copied afterwards with their current values.
func (r *Rewriting) Fill(ctx context.Context, fill func(src Reader, dst Writer) error) error {
	r.working.Lock()
	defer r.working.Unlock()
	if r.old == nil || r.next != nil {
		return ErrRewriting
	}
	number := r.old.number
	if err := r.fill(ctx, fill); err != nil {
		return fmt.Errorf("rewrite of generation %d: %w", number, errors.Join(err, r.abandon()))
	}
	return nil
}

func (r *Rewriting) fill(ctx context.Context, fill func(src Reader, dst Writer) error) (err error) {
	if r.next, err = r.s.fillNext(ctx, view{number: r.old.number, in: r.then}, fill); err != nil {
		return err
	}
	if err := r.endReading(); err != nil {
		return err
	}
	for range mostRounds {
		changed := r.changed()
		if err := r.catchUp(ctx, changed); err != nil {
			return err
		}
		if changed.size() <= caughtUp {
			break
		}
	}
	return nil
}

func (r *Rewriting) endReading() error {
	if r.then == nil {
		return nil
	}
	then := r.then
	r.then = nil
	return then.Close()
}

// changed returns the keys written since its last call.
func (r *Rewriting) changed() *touched {
	s := r.s
	s.writing.Lock()
	defer s.writing.Unlock()
	out := s.touched
	s.touched = newTouched()
	return out
}

// catchUp copies the current values of changed keys to the new generation, where they are durable then.
func (r *Rewriting) catchUp(ctx context.Context, changed *touched) error {
	const atOnce = 1024
	if changed.size() == 0 {
		return nil
	}
	keys := changed.sorted()
	w := &catching{to: r.next.db}
	for _, prefix := range changed.prefixes {
		err := w.write(func(b *pebble.Batch) error { return b.DeleteRange(prefix, prefixEnd(prefix), nil) })
		if err != nil {
			return err
		}
		err = r.old.now().Scan(prefix, func(key, value []byte) error {
			return w.write(func(b *pebble.Batch) error { return b.Set(key, value, nil) })
		})
		if err != nil {
			return errors.Join(err, w.end())
		}
	}
	if err := w.end(); err != nil { // copyOver compares with the stored values
		return err
	}
	for len(keys) > 0 {
		some := keys[:min(atOnce, len(keys))]
		keys = keys[len(some):]
		if err := errors.Join(ctx.Err(), r.copyOver(some, w)); err != nil {
			return errors.Join(err, w.end())
		}
	}
	return errors.Join(w.end(), r.next.db.LogData(nil, pebble.Sync))
}

// copyOver copies keys, ascending, to the new generation. A key that was set and deleted meanwhile leaves nothing
// there.
func (r *Rewriting) copyOver(keys [][]byte, w *catching) error {
	from, to := make([]Found, len(keys)), make([]Found, len(keys))
	if err := errors.Join(r.old.now().lookup(keys, from), r.next.now().lookup(keys, to)); err != nil {
		return err
	}
	for i, key := range keys {
		var err error
		switch now := from[i]; {
		case now.Found && to[i].Found && bytes.Equal(now.Value, to[i].Value):
		case now.Found:
			err = w.write(func(b *pebble.Batch) error { return b.Set(key, now.Value, nil) })
		case to[i].Found:
			err = w.write(func(b *pebble.Batch) error { return b.Delete(key, nil) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// catching writes copied keys in batches of about a megabyte.
type catching struct {
	to   *pebble.DB
	open *pebble.Batch
}

func (c *catching) write(change func(b *pebble.Batch) error) error {
	const most = 1 << 20
	if c.open == nil {
		c.open = c.to.NewBatch()
	}
	if err := change(c.open); err != nil {
		return errors.Join(err, c.end())
	}
	if c.open.Len() < most {
		return nil
	}
	return c.end()
}

// end stores the open batch, which becomes durable with a later synced write.
func (c *catching) end() error {
	if c.open == nil {
		return nil
	}
	b := c.open
	c.open = nil
	return errors.Join(b.Commit(pebble.NoSync), b.Close())
}

// Switch replaces the old content. Writers wait while the remaining keys are copied, which are few soon after Fill,
// and for the disk.
func (r *Rewriting) Switch() error {
	r.working.Lock()
	defer r.working.Unlock()
	if r.old == nil || r.next == nil || r.switched {
		return ErrRewriting
	}
	number := r.next.number
	if err := r.swap(); err != nil {
		return fmt.Errorf("switch to generation %d: %w", number, errors.Join(err, r.abandon()))
	}
	return nil
}

func (r *Rewriting) swap() error {
	s := r.s
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.writable()
	if err == nil {
		err = r.catchUp(context.Background(), s.touched)
	}
	if err != nil {
		return err
	}
	if err = s.switchTo(r.old, r.next); err != nil {
		r.next, r.uncertain = nil, errors.Is(err, ErrUncertain)
		return err
	}
	r.switched, s.touched = true, nil
	return nil
}

// Clean removes the old files once they have no readers.
func (r *Rewriting) Clean() error {
	r.working.Lock()
	defer r.working.Unlock()
	if !r.switched {
		return ErrRewriting
	}
	return r.abandon()
}

// Abandon ends a rewriting in any state: it removes the new content or, after Switch, the old. It waits for a
// running step. For a rewriting that has ended, or nil, it does nothing.
func (r *Rewriting) Abandon() error {
	if r == nil {
		return nil
	}
	r.working.Lock()
	defer r.working.Unlock()
	return r.abandon()
}

func (r *Rewriting) abandon() (err error) {
	if r.old == nil {
		return nil
	}
	old := r.old
	if r.old = nil; r.switched {
		err = old.clean(r.s, r.next)
	} else {
		err = r.endReading()
		if r.next != nil {
			err = errors.Join(err, r.next.db.Close())
		}
		if !r.uncertain {
			err = errors.Join(err, sweep(r.s.fs, r.s.dir, old.number))
		}
	}
	r.s.writing.Lock()
	defer r.s.writing.Unlock()
	r.s.rewriting, r.s.touched = nil, nil
	return err
}
