package swapstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Reader reads keys and values.
type Reader interface {
	// Get returns a copy of the value of a key and whether it exists.
	Get(key []byte) (value []byte, found bool, err error)
	// Scan calls fn for every key with the prefix, in ascending byte order; a nil prefix selects all
	// keys. Both slices are valid only during the call. An error of fn stops the scan and is
	// returned unchanged.
	Scan(prefix []byte, fn func(key, value []byte) error) error
}

// acquire returns the current generation, which stays open until release.
func (s *Store) acquire() (*generation, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.current == nil {
		return nil, ErrClosed
	}
	s.current.readers.Add(1)
	return s.current, nil
}

func (g *generation) release() { g.readers.Done() }

// Get implements Reader.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) {
	g, err := s.acquire()
	if err != nil {
		return nil, false, err
	}
	defer g.release()
	return g.now().Get(key)
}

// Scan implements Reader. It reads the store as of the call.
func (s *Store) Scan(prefix []byte, fn func(key, value []byte) error) error {
	g, err := s.acquire()
	if err != nil {
		return err
	}
	defer g.release()
	return g.now().Scan(prefix, fn)
}

// ScanFrom is Scan that starts at the key from, which must have the prefix.
func (s *Store) ScanFrom(prefix, from []byte, fn func(key, value []byte) error) error {
	g, err := s.acquire()
	if err != nil {
		return err
	}
	defer g.release()
	return g.now().scanBetween(from, prefixEnd(prefix), fn)
}

// view reads a generation, either live or from a snapshot.
type view struct {
	number uint64
	in     pebble.Reader
	// into, if not nil, receives the values read: once it has failed, scans end.
	into *tableWriter
}

// now is a live view of the generation.
func (g *generation) now() view { return view{number: g.number, in: g.db} }

// Get implements Reader.
func (g view) Get(key []byte) (value []byte, found bool, err error) {
	v, closer, err := g.in.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("get from generation %d: %w", g.number, damage(err))
	}
	value = append([]byte{}, v...)
	if err := closer.Close(); err != nil {
		return nil, false, fmt.Errorf("get from generation %d: %w", g.number, err)
	}
	return value, true, nil
}

// Scan implements Reader.
func (g view) Scan(prefix []byte, fn func(key, value []byte) error) (err error) {
	if len(prefix) == 0 { // Pebble distinguishes an empty bound from no bound
		return g.scanBetween(nil, nil, fn)
	}
	return g.scanBetween(prefix, prefixEnd(prefix), fn)
}

// scanBetween scans the keys in [from, to); nil means no bound.
func (g view) scanBetween(from, to []byte, fn func(key, value []byte) error) (err error) {
	it, err := g.in.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return fmt.Errorf("scan generation %d: %w", g.number, damage(err))
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = fn(it.Key(), value)
		}
		if err == nil && g.into != nil {
			err = g.into.err
		}
		if err != nil {
			return errors.Join(err, it.Close())
		}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return fmt.Errorf("scan generation %d: %w", g.number, damage(err))
	}
	return nil
}

// prefixEnd returns the first key above all keys with the prefix, or nil if every higher key has
// it.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte{}, prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
