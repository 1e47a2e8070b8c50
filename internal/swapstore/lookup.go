package swapstore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Found is the result of Lookup for one key.
type Found struct {
	Value []byte
	Found bool
}

// Lookup returns the values of keys, in their order and from one point in time. For many keys it
// is faster than Get, especially if they ascend and most are absent.
func (s *Store) Lookup(keys [][]byte) (out []Found, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	g, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer g.release()
	out = make([]Found, len(keys))
	return out, g.now().lookup(keys, out)
}

// lookup looks up keys one after the other.
func (g view) lookup(keys [][]byte, out []Found) error {
	it, err := g.in.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return fmt.Errorf("look up in generation %d: %w", g.number, damage(err))
	}
	for i, key := range keys {
		if !it.SeekPrefixGE(key) {
			if it.Error() != nil {
				break
			}
			continue
		}
		if !bytes.Equal(it.Key(), key) {
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("look up in generation %d: %w", g.number, errors.Join(damage(err), it.Close()))
		}
		out[i] = Found{append([]byte{}, value...), true}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return fmt.Errorf("look up in generation %d: %w", g.number, damage(err))
	}
	return nil
}
