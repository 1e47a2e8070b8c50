// Package bytecursor decodes bytes field by field.
//
// It is safe for truncated or altered input: no length found in it can cause a read out of bounds
// or an allocation larger than the input.
package bytecursor

import (
	"encoding/binary"
	"fmt"

	"lethe/internal/floatbytes"
)

// Cursor reads the fields of a message in order. It keeps the first error: Err and Close return
// it, and fields read after it are zero.
type Cursor struct {
	rest  []byte
	order binary.ByteOrder
	err   error
}

// New returns a cursor over a message with numbers in the given byte order. It reads the message
// in place.
func New(message []byte, order binary.ByteOrder) Cursor {
	return Cursor{rest: message, order: order}
}

// Left returns the number of unread bytes.
func (c *Cursor) Left() int { return len(c.rest) }

// Take returns the next n bytes, which share memory with the message, or nil after an error.
func (c *Cursor) Take(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.rest) {
		c.err = fmt.Errorf("field of %d bytes, %d left", n, len(c.rest))
		return nil
	}
	out := c.rest[:n:n]
	c.rest = c.rest[n:]
	return out
}

// Uint8 reads one byte.
func (c *Cursor) Uint8() uint8 {
	if b := c.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Flag reads a byte that is 0 or 1. Any other value is an error, because encoding the result
// would give different bytes.
func (c *Cursor) Flag() bool {
	b := c.Uint8()
	if b > 1 && c.err == nil {
		c.err = fmt.Errorf("flag is %d, want 0 or 1", b)
	}
	return b == 1
}

// Uint16 reads a 16-bit number.
func (c *Cursor) Uint16() uint16 {
	if b := c.Take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

// Uint32 reads a 32-bit number.
func (c *Cursor) Uint32() uint32 {
	if b := c.Take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

// Uint64 reads a 64-bit number.
func (c *Cursor) Uint64() uint64 {
	if b := c.Take(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// Count reads the 32-bit length of a sequence whose items take at least itemBytes each. If the
// message is too short for them, that is an error.
func (c *Cursor) Count(itemBytes int) int {
	n := int(c.Uint32())
	if c.err == nil && n > len(c.rest)/itemBytes {
		c.err = fmt.Errorf("%d items of %d bytes, %d bytes left", n, itemBytes, len(c.rest))
	}
	if c.err != nil {
		return 0
	}
	return n
}

// Bytes fills dst with the next bytes.
func (c *Cursor) Bytes(dst []byte) { copy(dst, c.Take(len(dst))) }

// Text reads a 32-bit length and as many bytes.
func (c *Cursor) Text() string { return string(c.Take(c.Count(1))) }

// Float32s reads n values in the encoding of floatbytes, which does not depend on the byte order
// of the cursor. It returns nil after an error.
func (c *Cursor) Float32s(n int) []float32 {
	if n < 0 || n > len(c.rest)/floatbytes.Size {
		c.Take(len(c.rest) + 1)
	}
	if c.err != nil {
		return nil
	}
	return c.AppendFloat32s(make([]float32, 0, n), n)
}

// AppendFloat32s is Float32s that appends to dst; after an error it returns dst unchanged.
func (c *Cursor) AppendFloat32s(dst []float32, n int) []float32 {
	if n < 0 || n > len(c.rest)/floatbytes.Size {
		c.Take(len(c.rest) + 1)
		return dst
	}
	return floatbytes.AppendValues(dst, c.Take(floatbytes.Size*n))
}

// Err returns the first error.
func (c *Cursor) Err() error { return c.err }

// Close returns the first error, or an error if bytes remain.
func (c *Cursor) Close() error {
	if c.err == nil && len(c.rest) > 0 {
		c.err = fmt.Errorf("%d bytes left over", len(c.rest))
	}
	return c.err
}
