package swapstore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Found is what Lookup found under a key.
type Found struct {
	Value []byte
	Found bool
}

// Lookup returns what is under keys, each as Get would and in their order, all as they are at one
// time. Of many keys it takes less time than Get, above all if they ascend and most are not
// there.
func (s *Store) Lookup(keys [][]byte) (out []Found, err error) {
	g, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer g.release()
	it, err := g.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, fmt.Errorf("look up in generation %d: %w", g.number, damage(err))
	}
	out = make([]Found, len(keys))
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
			return nil, fmt.Errorf("look up in generation %d: %w", g.number, errors.Join(damage(err), it.Close()))
		}
		out[i] = Found{append([]byte{}, value...), true}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, fmt.Errorf("look up in generation %d: %w", g.number, damage(err))
	}
	return out, nil
}
