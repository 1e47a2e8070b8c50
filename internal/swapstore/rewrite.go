package swapstore

import (
	"context"
	"errors"
	"fmt"
)

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
	old, err := rewritable(s)
	if err != nil {
		return err
	}
	g, err := s.fillNext(ctx, old.now(), fill)
	if err != nil {
		return fmt.Errorf("rewrite of generation %d: %w", old.number, errors.Join(err, sweep(s.fs, s.dir, old.number)))
	}
	if err := s.switchTo(old, g); err != nil {
		return fmt.Errorf("switch to generation %d: %w", g.number, err)
	}
	return old.clean(s, g)
}

// rewritable returns the current generation, with all that was applied ahead, if it can be written anew now. The
// caller holds s.writing.
func rewritable(s *Store) (*generation, error) {
	s.queue.wait(nil)
	if s.rewriting != nil {
		return nil, ErrRewriting
	}
	return s.writable()
}

// fillNext writes the next generation and makes it durable, without pointing
// at it yet. What an earlier attempt has left is removed first.
func (s *Store) fillNext(
	ctx context.Context, old view, fill func(src Reader, dst Writer) error,
) (*generation, error) {
	if err := sweep(s.fs, s.dir, old.number); err != nil {
		return nil, err
	}
	g, err := s.openGeneration(s.fs, old.number+1, true)
	if err != nil {
		return nil, err
	}
	w := newTableWriter(ctx, s.fs, s.fs.PathJoin(s.generationDir(g.number), tablesName), s.size)
	err = fill(old, w)
	if err == nil {
		err = w.finish(ctx, g)
	} else {
		err = errors.Join(err, w.end())
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, g.db.Close())
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

// clean removes the generation, which another one has replaced, once nobody reads it any more.
func (g *generation) clean(s *Store, by *generation) error {
	g.readers.Wait()
	if err := errors.Join(g.db.Close(), sweep(s.fs, s.dir, by.number)); err != nil {
		return fmt.Errorf("%w: generation %d: %w", ErrLeftovers, g.number, err)
	}
	return nil
}
