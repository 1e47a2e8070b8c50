package snapshot

import (
	"fmt"

	"lethe/internal/swapstore"
)

// Marks is a small area for the owner's own bookkeeping, in the same files as
// the offsets, so that a mark can be part of a batch (Batch.Mark). Erase does
// not look into it: keys and values must hold no id, feature or other content
// of a record. It may be used from any goroutine; Put waits while Erase or
// Compact writes the files anew.
type Marks struct{ staging *swapstore.Store }

// Marks returns the owner's area.
func (s *Store) Marks() Marks { return Marks{s.staging} }

func markKey(key []byte) []byte { return append([]byte{kindMark}, key...) }

// Get returns a copy of the value under a key and whether there is one.
func (m Marks) Get(key []byte) (value []byte, found bool, err error) {
	return m.staging.Get(markKey(key))
}

// Scan calls fn for every key with the prefix, ascending. Both slices are valid
// during the call only, and fn must not write.
func (m Marks) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return m.staging.Scan(markKey(prefix), func(key, value []byte) error { return fn(key[1:], value) })
}

// Put stores a value under a key. It is durable when it returns.
func (m Marks) Put(key, value []byte) error {
	err := m.staging.Apply(func(w swapstore.Writer) error { return w.Set(markKey(key), value) })
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}

// Delete removes a key. It is durable when it returns.
func (m Marks) Delete(key []byte) error {
	err := m.staging.Apply(func(w swapstore.Writer) error { return w.Delete(markKey(key)) })
	if err != nil {
		return fmt.Errorf("delete mark: %w", err)
	}
	return nil
}
