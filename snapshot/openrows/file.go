package openrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

// A file holds its rows, followed by the start of each as a big-endian number of four bytes, so that one row can be
// found without reading the others. A row is its pseudonym, its length in four bytes, and its value.
const (
	startBytes     = 4
	pseudonymBytes = len(lethe.Pseudonym{})
	headBytes      = pseudonymBytes + 4
)

// number identifies a file. It is never reused.
type number uint64

// description is the store's entry for a file.
type description struct {
	number number
	// rows is the number of rows, bytes their size, checksum the CRC-32C of the file.
	rows, bytes, checksum uint32
}

func (d description) encode() []byte {
	var dst []byte
	for _, n := range []uint32{d.rows, d.bytes, d.checksum} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return dst
}

func decodeDescription(n number, value []byte) (description, error) {
	const at, end = 4, 12
	if len(value) != end {
		return description{}, fmt.Errorf("%w: description of file %d of rows has %d bytes, want %d", swapstore.ErrCorrupt,
			n, len(value), end)
	}
	return description{
		number: n, rows: binary.BigEndian.Uint32(value), bytes: binary.BigEndian.Uint32(value[at:]),
		checksum: binary.BigEndian.Uint32(value[2*at:]),
	}, nil
}

// content is the content of a file to be written.
type content struct{ rows, starts []byte }

func (c *content) add(p lethe.Pseudonym, first, second []byte) {
	c.starts = binary.BigEndian.AppendUint32(c.starts, uint32(len(c.rows)))
	c.rows = append(c.rows, p[:]...)
	c.rows = binary.BigEndian.AppendUint32(c.rows, uint32(len(first)+len(second)))
	c.rows = append(append(c.rows, first...), second...)
}

func (c *content) describe(n number) description {
	sum := crc32.Update(crc32.Checksum(c.rows, swapstore.Castagnoli()), swapstore.Castagnoli(), c.starts)
	return description{
		number: n, rows: uint32(len(c.starts) / startBytes), bytes: uint32(len(c.rows)), checksum: sum,
	}
}

// write writes a file, which the caller must sync and close.
func (c *content) write(fs vfs.FS, path string) (vfs.File, error) {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{c.rows, c.starts} {
		if _, err := file.Write(part); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

// finder finds single rows of a file.
type finder struct {
	description
	file vfs.File
}

// find returns a row, and whether there is one.
func (f finder) find(p lethe.Pseudonym) (row []byte, found bool, err error) {
	low, high := uint32(0), f.rows
	for low < high {
		middle := low + (high-low)/2
		at, length, q, err := f.head(middle)
		if err != nil {
			return nil, false, err
		}
		switch order := q.Compare(p); {
		case order < 0:
			low = middle + 1
		case order > 0:
			high = middle
		default:
			row = make([]byte, length)
			_, err := f.file.ReadAt(row, at+int64(headBytes))
			return row, err == nil, err
		}
	}
	return nil, false, nil
}

// head reads the start, length and pseudonym of a row.
func (f finder) head(i uint32) (at int64, length uint32, p lethe.Pseudonym, err error) {
	var start [startBytes]byte
	if _, err := f.file.ReadAt(start[:], int64(f.bytes)+startBytes*int64(i)); err != nil {
		return 0, 0, p, err
	}
	var head [headBytes]byte
	at = int64(binary.BigEndian.Uint32(start[:]))
	if at+int64(headBytes) > int64(f.bytes) {
		return 0, 0, p, fmt.Errorf("%w: row at %d of %d bytes", swapstore.ErrCorrupt, at, f.bytes)
	}
	if _, err := f.file.ReadAt(head[:], at); err != nil {
		return 0, 0, p, err
	}
	length = binary.BigEndian.Uint32(head[pseudonymBytes:])
	if left := int64(f.bytes) - at - int64(headBytes); int64(length) > left {
		return 0, 0, p, fmt.Errorf("%w: row of %d bytes, %d left", swapstore.ErrCorrupt, length, left)
	}
	return at, length, lethe.Pseudonym(head[:pseudonymBytes]), nil
}
