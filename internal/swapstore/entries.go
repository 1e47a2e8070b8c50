package swapstore

import (
	"bytes"
	"slices"
)

// entriesBytes is the size of a list that is handed over.
const entriesBytes = 128 << 10

// entries is a list of keys and values in one buffer.
type entries struct {
	bytes []byte
	// ends are the ends of each key and each value.
	ends []int
}

func (e *entries) add(key, value []byte) {
	if need := len(e.bytes) + len(key) + len(value); need > cap(e.bytes) {
		e.bytes = slices.Grow(e.bytes, need)
	}
	e.bytes = append(e.bytes, key...)
	e.ends = append(e.ends, len(e.bytes))
	e.bytes = append(e.bytes, value...)
	e.ends = append(e.ends, len(e.bytes))
}

func (e *entries) clear() { e.bytes, e.ends = e.bytes[:0], e.ends[:0] }

// each calls fn for every entry until fn returns an error, which it returns.
func (e *entries) each(fn func(key, value []byte) error) error {
	from := 0
	for i := 0; i < len(e.ends); i += 2 {
		if err := fn(e.bytes[from:e.ends[i]], e.bytes[e.ends[i]:e.ends[i+1]]); err != nil {
			return err
		}
		from = e.ends[i+1]
	}
	return nil
}

// touched records the keys that have been written. A nil *touched records nothing.
type touched struct {
	keys entries
	// prefixes are the prefixes deleted as a whole.
	prefixes [][]byte
}

func (t *touched) key(key []byte) {
	if t != nil {
		t.keys.add(key, nil)
	}
}

func (t *touched) prefix(prefix []byte) {
	if t != nil {
		t.prefixes = append(t.prefixes, bytes.Clone(prefix))
	}
}

// size is the number of records, including repetitions.
func (t *touched) size() int { return len(t.keys.ends)/2 + len(t.prefixes) }

// sorted returns the keys and the prefixes, ascending and without duplicates. The keys share
// memory with t.
func (t *touched) sorted() (keys, prefixes [][]byte) {
	keys = make([][]byte, 0, len(t.keys.ends)/2)
	_ = t.keys.each(func(key, _ []byte) error {
		keys = append(keys, key)
		return nil
	})
	for _, list := range []*[][]byte{&keys, &t.prefixes} {
		slices.SortFunc(*list, bytes.Compare)
		*list = slices.CompactFunc(*list, bytes.Equal)
	}
	return keys, t.prefixes
}
