package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"

	"lethe"
)

// cursor takes a stored value apart. The first failure sticks; close tells.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if c.bad || n < 0 || n > len(c.rest) {
		c.bad = true
		return nil
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) uint8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) string() string { return string(c.take(int(c.uint32()))) }

// blob reads what appendBlob wrote, and copies it.
func (c *cursor) blob() []byte {
	if c.uint8() == 0 {
		return nil
	}
	return append([]byte{}, c.take(int(c.uint32()))...)
}

// close returns an error if a field was cut short or bytes are left over.
func (c *cursor) close(what string) error {
	if c.bad || len(c.rest) > 0 {
		return fmt.Errorf("%w: stored %s is cut short or too long", ErrCorrupt, what)
	}
	return nil
}

func appendString(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendBlob keeps nil and empty apart: a record without a key is not one with
// an empty key.
func appendBlob(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 0)
	}
	return append(binary.BigEndian.AppendUint32(append(dst, 1), uint32(len(b))), b...)
}

// appendFeatures writes little-endian IEEE 754 bits, as canonical bytes do, so
// that one search of the disk finds a row in either.
func appendFeatures(dst []byte, features []float32) []byte {
	for _, v := range features {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// row is a transaction as it is stored: all but its timestep, which its place
// says.
type row struct {
	id       lethe.TransactionID
	features []float32
}

func encodeRow(id lethe.TransactionID, features []float32) []byte {
	dst := make([]byte, 0, 4+len(id)+4*len(features))
	return appendFeatures(appendString(dst, string(id)), features)
}

func decodeRow(value []byte) (row, error) {
	c := cursor{rest: value}
	r := row{id: lethe.TransactionID(c.string())}
	if c.bad || len(c.rest)%4 != 0 {
		return row{}, fmt.Errorf("%w: stored row has %d bytes", ErrCorrupt, len(value))
	}
	r.features = make([]float32, len(c.rest)/4)
	for i := range r.features {
		r.features[i] = math.Float32frombits(binary.LittleEndian.Uint32(c.rest[4*i:]))
	}
	return r, nil
}

// contentHash stands for a transaction's content once its row has moved to the
// timestep's store.
type contentHash [16]byte

// indexEntry says where a transaction is.
type indexEntry struct {
	timestep lethe.Timestep
	hash     contentHash
}

func (e indexEntry) encode() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(e.timestep)), e.hash[:]...)
}

func decodeIndex(value []byte) (indexEntry, error) {
	c := cursor{rest: value}
	e := indexEntry{timestep: lethe.Timestep(c.uint64())}
	copy(e.hash[:], c.take(len(e.hash)))
	return e, c.close("index entry")
}

func (i Info) encode() []byte {
	dst := append([]byte{}, byte(i.State))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Revision))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Payments))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Labels))
	return binary.BigEndian.AppendUint64(dst, uint64(i.Previous))
}

func decodeInfo(t lethe.Timestep, value []byte) (Info, error) {
	c := cursor{rest: value}
	i := Info{
		Timestep: t,
		State:    lethe.State(c.uint8()),
		Revision: lethe.Revision(c.uint32()),
		Nodes:    int(c.uint64()),
		Payments: int(c.uint64()),
		Labels:   int(c.uint64()),
		Previous: lethe.Timestep(c.uint64()),
	}
	return i, c.close("timestep")
}
