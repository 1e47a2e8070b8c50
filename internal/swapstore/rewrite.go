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
	s.queue.wait(nil)
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
