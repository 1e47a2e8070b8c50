package roletest

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// Store is a store in memory. Close keeps its content, so that a role can be opened on it again as after a crash.
type Store struct {
	mu      sync.RWMutex
	content content
}

var _ role.Store = (*Store)(nil)

// NewStore returns an empty store.
func NewStore() *Store { return &Store{content: content{}} }

// Get implements swapstore.Reader.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) { return s.now().Get(key) }

// Scan implements swapstore.Reader.
func (s *Store) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return s.now().Scan(prefix, fn)
}

// now returns the content, which is never changed: writing replaces it.
func (s *Store) now() content {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.content
}

// Apply implements role.Store.
func (s *Store) Apply(fn func(w swapstore.Writer) error) error {
	next := maps.Clone(s.now())
	if err := fn(next); err != nil {
		return err
	}
	s.put(next)
	return nil
}

func (s *Store) put(next content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = next
}

// Close implements role.Store.
func (s *Store) Close() error { return nil }

// content is the content of a store.
type content map[string]string

// Get implements swapstore.Reader.
func (c content) Get(key []byte) (value []byte, found bool, err error) {
	text, found := c[string(key)]
	if !found {
		return nil, false, nil
	}
	return []byte(text), true, nil
}

// Scan implements swapstore.Reader.
func (c content) Scan(prefix []byte, fn func(key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if !strings.HasPrefix(key, string(prefix)) {
			continue
		}
		if err := fn([]byte(key), []byte(c[key])); err != nil {
			return err
		}
	}
	return nil
}

// Set implements swapstore.Writer.
func (c content) Set(key, value []byte) { c[string(key)] = string(value) }

// Delete implements swapstore.Writer.
func (c content) Delete(key []byte) { delete(c, string(key)) }
