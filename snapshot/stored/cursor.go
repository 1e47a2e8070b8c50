package stored

import (
	"encoding/binary"
	"errors"
	"fmt"

	"lethe/internal/bytecursor"
)

// ErrCorrupt marks stored bytes that this program cannot have written. The store must be rebuilt
// from the topics.
var ErrCorrupt = errors.New("corrupt snapshot store")

// Cursor decodes a stored value. It keeps the first error; Done returns it.
type Cursor struct{ bytecursor.Cursor }

// Over returns a cursor over a stored value.
func Over(value []byte) Cursor { return Cursor{bytecursor.New(value, binary.BigEndian)} }

// Blob reads and copies a value of AppendBlob.
func (c *Cursor) Blob() []byte {
	if !c.Flag() {
		return nil
	}
	return append([]byte{}, c.Take(c.Count(1))...)
}

// Done returns ErrCorrupt if a field was truncated or bytes remain.
func (c *Cursor) Done(what string) error {
	if err := c.Close(); err != nil {
		return fmt.Errorf("%w: stored %s: %w", ErrCorrupt, what, err)
	}
	return nil
}

// AppendString appends a text and its length, for Cursor.Text.
func AppendString(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// AppendBlob appends bytes for Cursor.Blob. It distinguishes nil from empty: a record without a key differs from
// one with an empty key.
func AppendBlob(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 0)
	}
	return append(binary.BigEndian.AppendUint32(append(dst, 1), uint32(len(b))), b...)
}
