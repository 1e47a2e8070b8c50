package mixedstore

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/internal/swapstore"
)

// Store is an open store. Any number of goroutines may read and write.
type Store struct {
	small *swapstore.Store
	files *files
	// writing serializes changes.
	writing sync.Mutex
}

// Open opens the store in a folder, creating it if absent. Keys under one of the prefixes, each
// of which ends in a slash, have files of their own; other keys must not begin with one. Errors
// are those of swapstore.Open and of the file system.
func Open(fs vfs.FS, dir string, format swapstore.Format, prefixes ...string) (*Store, error) {
	small, err := swapstore.Open(fs, dir, format)
	if err != nil {
		return nil, err
	}
	f, err := openFiles(fs, dir, prefixes)
	if err != nil {
		return nil, errors.Join(err, small.Close())
	}
	return &Store{small: small, files: f}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.small.Close() }

// Get implements swapstore.Reader.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) {
	if s.files.has(key) {
		return s.files.get(key)
	}
	return s.small.Get(key)
}

// Scan implements swapstore.Reader, but concurrent writes may or may not be seen.
func (s *Store) Scan(prefix []byte, fn func(key, value []byte) error) error {
	keys, err := s.files.keys(prefix)
	if err != nil {
		return err
	}
	// before calls fn for the files whose keys sort before limit.
	before := func(limit []byte) error {
		for len(keys) > 0 && (limit == nil || bytes.Compare(keys[0], limit) < 0) {
			value, found, err := s.files.get(keys[0])
			if err == nil && found {
				err = fn(keys[0], value)
			}
			if err != nil {
				return err
			}
			keys = keys[1:]
		}
		return nil
	}
	if err := s.small.Scan(prefix, func(key, value []byte) error {
		if err := before(key); err != nil {
			return err
		}
		return fn(key, value)
	}); err != nil {
		return err
	}
	return before(nil)
}

// Apply makes the changes of fn. They are durable when it returns nil, and replaced or deleted files
// are unlinked. An error of fn is returned unchanged, and nothing changes.
//
// If the process crashes, a prefix of these steps has been done: files are set, each atomically; all
// other keys are changed atomically; files are deleted, in descending order of keys. So data that ties
// files together belongs under another key.
func (s *Store) Apply(fn func(w swapstore.Writer) error) error {
	asked := changes{}
	if err := fn(asked); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	order := slices.Sorted(maps.Keys(asked))
	small := slices.DeleteFunc(slices.Clone(order), func(key string) bool { return s.files.has([]byte(key)) })
	if err := s.changeFiles(order, asked, false); err != nil {
		return err
	}
	if len(small) > 0 {
		if err := s.small.Apply(func(w swapstore.Writer) error {
			for _, key := range small {
				if c := asked[key]; c.deleted {
					w.Delete([]byte(key))
				} else {
					w.Set([]byte(key), c.value)
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return s.changeFiles(order, asked, true)
}

// changeFiles sets files, or deletes them.
func (s *Store) changeFiles(order []string, asked changes, deletes bool) error {
	changed := false
	if deletes {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	for _, key := range order {
		c := asked[key]
		if !s.files.has([]byte(key)) || c.deleted != deletes {
			continue
		}
		var err error
		if deletes {
			err = s.files.remove([]byte(key))
		} else {
			err = s.files.set([]byte(key), c.value)
		}
		if err != nil {
			return err
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return s.files.sync()
}

// changes holds the last change of each key.
type changes map[string]change

type change struct {
	value   []byte
	deleted bool
}

var _ swapstore.Writer = changes{}

// Set implements swapstore.Writer.
func (c changes) Set(key, value []byte) { c[string(key)] = change{value: bytes.Clone(value)} }

// Delete implements swapstore.Writer.
func (c changes) Delete(key []byte) { c[string(key)] = change{deleted: true} }
