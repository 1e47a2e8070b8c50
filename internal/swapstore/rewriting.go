package swapstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Rewriting is a Rewrite in parts: readers and writers go on, but for the moment of Switch. Its parts are called one
// after the other, in any goroutine:
//
//	r, err := BeginRewriting(s)
//	err = r.Fill(ctx, fill) // takes long
//	err = r.Switch()
//	err = r.Clean()         // may take long
//
// What was deleted before BeginRewriting is not in the new files. What is deleted or written over after it may be. A
// part that fails ends the rewriting, with what Rewrite says of its errors.
type Rewriting struct {
	s *Store
	// working is held by the part that goes on.
	working sync.Mutex
	// old is what is replaced, nil once it was, or once that was given up.
	old *generation
	// then is old when the rewriting began, nil once it was read.
	then *pebble.Snapshot
	// next is what replaces it, nil before it was filled.
	next     *generation
	switched bool
	// uncertain says that it may have been switched to.
	uncertain bool
}

// BeginRewriting begins to write a store anew with what it holds now. It waits for what is being applied. One
// rewriting is under way at a time: ErrRewriting.
func BeginRewriting(s *Store) (*Rewriting, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	old, err := rewritable(s)
	if err != nil {
		return nil, err
	}
	s.rewriting, s.touched = &Rewriting{s: s, old: old, then: old.db.NewSnapshot()}, new(touched)
	return s.rewriting, nil
}

// caughtUp and mostRounds are how few keys may be left to be written by Switch, and how often it is tried to come to
// that before.
const caughtUp, mostRounds = 256, 16

// Fill writes the new content: fill is that of Rewrite, and src the store as it was at BeginRewriting. What others have
// written since is written after that, as they have left it.
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
	if r.next, err = r.s.fillNext(ctx, view{r.old.number, r.then}, fill); err != nil {
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
	return r.next.db.LogData(nil, pebble.Sync)
}

func (r *Rewriting) endReading() error {
	if r.then == nil {
		return nil
	}
	then := r.then
	r.then = nil
	return then.Close()
}

// changed returns what was written to since it was called last, all of which is applied.
func (r *Rewriting) changed() *touched {
	s := r.s
	s.writing.Lock()
	out := s.touched
	s.touched = new(touched)
	s.writing.Unlock()
	s.queue.wait(nil) // those who write go on
	return out
}

// catchUp brings to the new generation what the old one has under some keys now.
func (r *Rewriting) catchUp(ctx context.Context, changed *touched) error {
	const atOnce = 1024
	keys, prefixes := changed.sorted()
	w := &catching{to: r.next.db}
	for _, prefix := range prefixes {
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
	if err := w.end(); err != nil { // what follows is compared with what is there
		return err
	}
	for len(keys) > 0 {
		some := keys[:min(atOnce, len(keys))]
		keys = keys[len(some):]
		if err := errors.Join(ctx.Err(), r.copyOver(some, w)); err != nil {
			return errors.Join(err, w.end())
		}
	}
	return w.end()
}

// copyOver brings some keys, ascending, to the new generation. What came and went again meanwhile leaves nothing there.
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

// catching writes what was caught up with, a few megabytes at a time.
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

// end stores what is not yet, which is durable once something later is.
func (c *catching) end() error {
	if c.open == nil {
		return nil
	}
	b := c.open
	c.open = nil
	return errors.Join(b.Commit(pebble.NoSync), b.Close())
}

// Switch replaces the old content. Writers wait for what is left to be brought over, little if it is called soon after
// Fill has ended, and for the disk.
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
	s.queue.wait(nil)
	_, err := s.writable()
	if err == nil {
		err = r.catchUp(context.Background(), s.touched)
	}
	if err == nil {
		err = r.next.db.LogData(nil, pebble.Sync)
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

// Clean removes the old files, once nobody reads them any more.
func (r *Rewriting) Clean() error {
	r.working.Lock()
	defer r.working.Unlock()
	if !r.switched {
		return ErrRewriting
	}
	return r.abandon()
}

// Abandon ends a rewriting wherever it is: what was written of the new content is removed or, once that was switched
// to, the old one. It waits for a part that goes on. One that has ended, or nil, stays so.
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
