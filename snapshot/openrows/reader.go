package openrows

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

const (
	// readBytes is the size of the read buffer. mostRowBytes bounds a row in a file: less, so that a row can be read
	// in place.
	readBytes, mostRowBytes = 128 << 10, 64 << 10
)

// reader reads the rows of a file in order, and verifies the checksum at the end.
type reader struct {
	description
	file vfs.File
	next *bufio.Reader
	// left is the number of bytes of rows not consumed yet, sum the checksum of the consumed ones.
	left, sum uint32
	// here is the current row with its head, inside the buffer of next. It is empty at the end.
	here []byte
}

// newReader returns a reader at the first row of a file. The reader closes the file.
func newReader(file vfs.File, d description) (*reader, error) {
	r := &reader{description: d, file: file, next: bufio.NewReaderSize(file, readBytes), left: d.bytes}
	if err := r.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *reader) pseudonym() lethe.Pseudonym { return lethe.Pseudonym(r.here[:pseudonymBytes]) }

// row is valid until advance.
func (r *reader) row() []byte { return r.here[headBytes:] }

func (r *reader) ended() bool { return len(r.here) == 0 }

// advance moves to the next row.
func (r *reader) advance() error {
	before := r.pseudonym()
	r.sum = crc32.Update(r.sum, swapstore.Castagnoli(), r.here)
	r.left -= uint32(len(r.here))
	if _, err := r.next.Discard(len(r.here)); err != nil {
		return r.failed(err)
	}
	if err := r.read(); err != nil {
		return err
	}
	if !r.ended() && before.Compare(r.pseudonym()) >= 0 {
		return fmt.Errorf("%w: file %d: rows in another order", swapstore.ErrCorrupt, r.number)
	}
	return nil
}

// read reads the next row, or the end of the file.
func (r *reader) read() error {
	if r.left == 0 {
		return r.check()
	}
	head, err := r.next.Peek(headBytes)
	if err != nil {
		return r.failed(err)
	}
	length := int64(headBytes) + int64(binary.BigEndian.Uint32(head[pseudonymBytes:]))
	if length > min(int64(r.left), int64(headBytes)+mostRowBytes) {
		return fmt.Errorf("%w: file %d: row of %d bytes, %d left", swapstore.ErrCorrupt, r.number, length, r.left)
	}
	r.here, err = r.next.Peek(int(length))
	return r.failed(err)
}

// check verifies the checksum of everything that was read.
func (r *reader) check() error {
	r.here = nil
	starts, err := io.ReadAll(r.next)
	if err != nil {
		return r.failed(err)
	}
	if sum := crc32.Update(r.sum, swapstore.Castagnoli(), starts); sum != r.checksum {
		return fmt.Errorf("%w: file %d: checksum %08x, want %08x", swapstore.ErrCorrupt, r.number, sum, r.checksum)
	}
	return nil
}

func (r *reader) failed(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: file %d ends early", swapstore.ErrCorrupt, r.number)
	}
	return err
}

// close closes the file.
func (r *reader) close() error { return r.file.Close() }
