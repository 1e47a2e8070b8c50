package swapstore

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

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

// sums has Pebble add up the sums of stores that were written when such were added to without being read: their files
// hold what was added. It has the name of the merger that stores had before that, which merged nothing: Pebble opens a
// store under no other one.
func sums() *pebble.Merger {
	return &pebble.Merger{Name: pebble.DefaultMerger.Name, Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		s := new(sum)
		return s, s.add(value)
	}}
}

// sum is a sum whose parts come in no order.
type sum struct{ n int32 }

const sumBytes = 4

func (s *sum) add(value []byte) error {
	if len(value) != sumBytes {
		return fmt.Errorf("%w: sum of %d bytes", ErrCorrupt, len(value))
	}
	s.n += int32(binary.BigEndian.Uint32(value))
	return nil
}

// MergeNewer implements pebble.ValueMerger.
func (s *sum) MergeNewer(value []byte) error { return s.add(value) }

// MergeOlder implements pebble.ValueMerger.
func (s *sum) MergeOlder(value []byte) error { return s.add(value) }

// Finish implements pebble.ValueMerger.
func (s *sum) Finish(bool) ([]byte, io.Closer, error) {
	return binary.BigEndian.AppendUint32(nil, uint32(s.n)), nil, nil
}
