package swapstore

import "slices"

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
