package snapshot

import (
	"fmt"

	"lethe/internal/swapstore"
)

// Marks is a small area for the owner's own bookkeeping, beside the offsets.
// Erase does not look into it: keys and values must hold no id, feature or other
// content of a record. It may be used from any goroutine; Put waits while Erase writes
// the files anew.
type Marks struct{ store *swapstore.Store }

// Marks returns the owner's area.
func (s *Store) Marks() Marks { return Marks{s.staging.Store} }

func markKey(key []byte) []byte { return append([]byte{kindMark}, key...) }

// Get returns a copy of the value under a key and whether there is one.
func (m Marks) Get(key []byte) (value []byte, found bool, err error) {
	return m.store.Get(markKey(key))
}

// Put stores a value under a key. It is durable when it returns.
func (m Marks) Put(key, value []byte) error {
	err := m.store.Apply(func(w swapstore.Writer) error { return w.Set(markKey(key), value) })
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}
