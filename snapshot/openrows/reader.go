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
	// readBytes is how much of a file is read at a time, and mostRowBytes what a row in a file may have: less, so that
	// it is read where it is.
	readBytes, mostRowBytes = 128 << 10, 64 << 10
)

// reader reads the rows of a file one after the other, and checks the file when it comes to its end.
type reader struct {
	description
	file vfs.File
	next *bufio.Reader
	// left is how many bytes of rows were not gone past, sum the checksum of those that were.
	left, sum uint32
	// here is the row that is read, with its head: part of the memory of next. It is empty at the end.
	here []byte
}

// newReader returns a reader of a file, which it closes, at its first row.
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

// advance goes on to the next row.
func (r *reader) advance() error {
	before := r.pseudonym()
	r.sum = crc32.Update(r.sum, castagnoli(), r.here)
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

// read reads the row that comes next, or what follows the last one.
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

// check compares the checksum of all that was read.
func (r *reader) check() error {
	r.here = nil
	starts, err := io.ReadAll(r.next)
	if err != nil {
		return r.failed(err)
	}
	if sum := crc32.Update(r.sum, castagnoli(), starts); sum != r.checksum {
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
