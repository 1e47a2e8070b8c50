package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"

	"lethe"
	"lethe/internal/bytecursor"
	"lethe/internal/swapstore"
)

// The versions of the stores of closed timesteps and of staging. Each store also
// repeats its version in a value of its own.
const graphVersion, stagingVersion = 1, 2

// graphFormat is what the keys and values of a closed timestep's store mean.
func graphFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-graph", Version: graphVersion}
}

// stagingFormat is what the keys and values of staging mean.
func stagingFormat() swapstore.Format {
	return swapstore.Format{Kind: "snapshot-staging", Version: stagingVersion}
}

// cursor takes a stored value apart. The first failure is kept; close returns it.
type cursor struct{ bytecursor.Cursor }

func cursorOver(stored []byte) cursor { return cursor{bytecursor.New(stored, binary.BigEndian)} }

// blob reads what appendBlob wrote, and copies it.
func (c *cursor) blob() []byte {
	if !c.Flag() {
		return nil
	}
	return append([]byte{}, c.Take(c.Count(1))...)
}

// close returns an error if a field was cut short or bytes are left over.
func (c *cursor) close(what string) error {
	if err := c.Close(); err != nil {
		return fmt.Errorf("%w: stored %s: %w", ErrCorrupt, what, err)
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
	c := cursorOver(value)
	r := row{id: lethe.TransactionID(c.Text())}
	r.features = c.Float32s(c.Left() / 4)
	return r, c.close("row")
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
	c := cursorOver(value)
	e := indexEntry{timestep: lethe.Timestep(c.Uint64())}
	c.Bytes(e.hash[:])
	return e, c.close("index entry")
}
