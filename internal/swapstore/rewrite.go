package swapstore

import (
	"context"
	"errors"
	"fmt"
)

// Rewrite replaces the whole content: fill reads the old content from src and sets the new
// content in dst, keys ascending, each once. When Rewrite returns nil, the new content is durable
// and every old file is unlinked. It is a Rewriting from its first step to its last.
//
// After an error, including a context cancelled before the switch, the old content stays and
// partial new content is removed. The exceptions are ErrUncertain and ErrLeftovers.
func (s *Store) Rewrite(ctx context.Context, fill func(src Reader, dst Writer) error) error {
	r, err := BeginRewriting(s)
	if err != nil {
		return err
	}
	if err := r.Fill(ctx, fill); err != nil {
		return err
	}
	if err := r.Switch(); err != nil {
		return err
	}
	return r.Clean()
}

// fillNext writes the next generation and makes it durable, without switching to it. It first removes the remains of
// an earlier attempt.
func (s *Store) fillNext(
	ctx context.Context, old view, fill func(src Reader, dst Writer) error,
) (*generation, error) {
	if err := sweep(s.fs, s.dir, old.number); err != nil {
		return nil, err
	}
	g, err := s.openGeneration(old.number+1, true)
	if err != nil {
		return nil, err
	}
	w := newTableWriter(ctx, s.fs, s.fs.PathJoin(s.generationDir(g.number), tablesName), s.size)
	old.into = w
	err = w.finish(fill(old, w))
	if err == nil && len(w.paths) > 0 {
		err = w.ingest(g)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, g.db.Close())
	}
	return g, nil
}

// switchTo switches the pointer to the new generation. After a failure it removes the new
// generation if the pointer certainly names the old one; otherwise the store is broken.
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

// clean removes the replaced generation once it has no readers.
func (g *generation) clean(s *Store, by *generation) error {
	g.readers.Wait()
	if err := errors.Join(g.db.Close(), sweep(s.fs, s.dir, by.number)); err != nil {
		return fmt.Errorf("%w: generation %d: %w", ErrLeftovers, g.number, err)
	}
	return nil
}
