package swapstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Reader reads keys and values.
type Reader interface {
	// Get returns a copy of the value under a key and whether there is one.
	Get(key []byte) (value []byte, found bool, err error)
	// Scan calls fn for every key with the prefix, ascending by bytes; a nil
	// prefix means all. Both slices are valid during the call only. An error of
	// fn ends the scan and is returned as it is.
	Scan(prefix []byte, fn func(key, value []byte) error) error
}

// acquire returns the current generation, which then stays open until release, once what was applied ahead to keys with
// a prefix can be read.
func (s *Store) acquire(prefix []byte) (*generation, error) {
	s.queue.wait(prefix)
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
	g, err := s.acquire(key)
	if err != nil {
		return nil, false, err
	}
	defer g.release()
	return g.now().Get(key)
}

// Scan implements Reader. It sees the store as it was when Scan was called.
func (s *Store) Scan(prefix []byte, fn func(key, value []byte) error) error {
	g, err := s.acquire(prefix)
	if err != nil {
		return err
	}
	defer g.release()
	return g.now().Scan(prefix, fn)
}

// ScanFrom is Scan of the keys with the prefix that do not come before from, which has the prefix
// too.
func (s *Store) ScanFrom(prefix, from []byte, fn func(key, value []byte) error) error {
	g, err := s.acquire(prefix)
	if err != nil {
		return err
	}
	defer g.release()
	return g.now().scanBetween(from, prefixEnd(prefix), fn)
}

// view is a generation as it is read: as it is now, or was at one time.
type view struct {
	number uint64
	in     pebble.Reader
}

// now is the generation as it is at every call.
func (g *generation) now() view { return view{g.number, g.db} }

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
	if len(prefix) == 0 { // an empty bound is not the same to Pebble as none
		return g.scanBetween(nil, nil, fn)
	}
	return g.scanBetween(prefix, prefixEnd(prefix), fn)
}

// scanBetween scans the keys from a bound to another one, which is not included; nil is none.
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
		if err != nil {
			return errors.Join(err, it.Close())
		}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return fmt.Errorf("scan generation %d: %w", g.number, damage(err))
	}
	return nil
}

// prefixEnd returns the first key above all keys with the prefix, or nil if
// there is none.
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
