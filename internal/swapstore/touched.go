package swapstore

import (
	"bytes"
	"maps"
	"slices"
)

// touched records the keys that have been written. A nil *touched records nothing.
type touched struct {
	keys map[string]struct{}
	// prefixes are the prefixes deleted as a whole.
	prefixes [][]byte
}

func newTouched() *touched { return &touched{keys: make(map[string]struct{})} }

func (t *touched) key(key []byte) {
	if t != nil {
		t.keys[string(key)] = struct{}{}
	}
}

func (t *touched) prefix(prefix []byte) {
	if t != nil {
		t.prefixes = append(t.prefixes, bytes.Clone(prefix))
	}
}

// size is the number of records.
func (t *touched) size() int { return len(t.keys) + len(t.prefixes) }

// sorted returns the keys, ascending.
func (t *touched) sorted() [][]byte {
	out := make([][]byte, 0, len(t.keys))
	for _, key := range slices.Sorted(maps.Keys(t.keys)) {
		out = append(out, []byte(key))
	}
	return out
}
