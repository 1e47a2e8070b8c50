package swapstore

import (
	"bytes"
	"slices"
)

// entriesBytes is how much is handed over at once.
const entriesBytes = 128 << 10

// entries are keys with values, one after the other.
type entries struct {
	bytes []byte
	// ends are where each key and each value ends.
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

// each calls fn for every entry, until it returns an error, which is returned.
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

// touched are keys that have been written to. A nil one notes nothing.
type touched struct {
	keys entries
	// prefixes are those under which all was deleted.
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

// size is how many were noted, each as often as it was.
func (t *touched) size() int { return len(t.keys.ends)/2 + len(t.prefixes) }

// sorted returns the keys and the prefixes, ascending, each once. The keys are those that t holds.
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
