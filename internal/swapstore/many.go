package swapstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// ErrSum is returned for a value that is no sum where one is asked for.
var ErrSum = errors.New("value is no sum")

// DeletePrefix removes every key that has a prefix, in one step however many there are. It is for the writers that
// Apply gives to its function; others return ErrOrder.
func DeletePrefix(w Writer, prefix []byte) error {
	b, is := w.(batchWriter)
	if !is {
		return ErrOrder
	}
	b.changed.add(prefix)
	b.touched.prefix(prefix)
	return b.b.DeleteRange(prefix, prefixEnd(prefix), nil)
}

// Add adds to the sum under a key, which is 0 where there is none, without reading it. It is for the writers that Apply
// of a store of a Size with Sums gives to its function; others return ErrOrder.
func Add(w Writer, key []byte, n int32) error {
	b, is := w.(batchWriter)
	if !is || !b.sums {
		return ErrOrder
	}
	b.note(key)
	return b.b.Merge(key, Sum(n), nil)
}

// Sum is the value of a sum, as Add leaves it and as it may be set.
func Sum(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// ParseSum reads the value of a sum. The error is ErrSum.
func ParseSum(value []byte) (int32, error) {
	if len(value) != len(Sum(0)) {
		return 0, fmt.Errorf("%w: %d bytes", ErrSum, len(value))
	}
	return int32(binary.BigEndian.Uint32(value)), nil
}

// sums has Pebble add up what Add says. It has the name of the merger that stores had before, which merged nothing:
// Pebble opens a store under no other one.
func sums() *pebble.Merger {
	return &pebble.Merger{Name: pebble.DefaultMerger.Name, Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		s := new(sum)
		return s, s.add(value)
	}}
}

// sum is a sum whose parts come in no order.
type sum struct{ n int32 }

func (s *sum) add(value []byte) error {
	n, err := ParseSum(value)
	s.n += n
	return err
}

// MergeNewer implements pebble.ValueMerger.
func (s *sum) MergeNewer(value []byte) error { return s.add(value) }

// MergeOlder implements pebble.ValueMerger.
func (s *sum) MergeOlder(value []byte) error { return s.add(value) }

// Finish implements pebble.ValueMerger.
func (s *sum) Finish(bool) ([]byte, io.Closer, error) { return Sum(s.n), nil, nil }
