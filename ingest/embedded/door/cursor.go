package door

import "encoding/binary"

// cursor passes over the fields of a request. Behind the first one that does not fit, bad is set and all are zero.
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

// text is a string; -1 stands for none.
func (c *cursor) text() { c.take(int(max(c.int16(), 0))) }

// uvarint is of 32 bits, as tagged fields and compact lengths are.
func (c *cursor) uvarint() int {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || n > 5 || v > 1<<31-1 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return int(v)
}

// compact is a string or array length in a version with tagged fields: 0 stands for none.
func (c *cursor) compact() int { return max(c.uvarint()-1, 0) }

func (c *cursor) compactText() { c.take(c.compact()) }

// tags passes over tagged fields.
func (c *cursor) tags() {
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		c.uvarint()
		c.take(c.uvarint())
	}
}
