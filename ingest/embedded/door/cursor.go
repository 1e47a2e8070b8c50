package door

import "encoding/binary"

// cursor skips the fields of a request. After the first one that does not fit, bad is set and all values are zero.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.bad, c.rest = true, nil
		return nil
	}
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

func (c *cursor) int16() int16 {
	if b := c.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// text skips a string; its length is -1 if it is null.
func (c *cursor) text() { c.take(int(max(c.int16(), 0))) }

// uvarint reads a varint of 32 bits, as in tagged fields and compact lengths.
func (c *cursor) uvarint() int {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || n > 5 || v > 1<<31-1 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return int(v)
}

// compact reads a string or array length in a version with tagged fields; an encoded 0 means null.
func (c *cursor) compact() int { return max(c.uvarint()-1, 0) }

func (c *cursor) compactText() { c.take(c.compact()) }

// tags skips tagged fields.
func (c *cursor) tags() {
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		c.uvarint()
		c.take(c.uvarint())
	}
}
