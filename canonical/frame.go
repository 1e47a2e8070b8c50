package canonical

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"

	"lethe"
	"lethe/internal/bytecursor"
	"lethe/internal/floatbytes"
)

// ErrCorrupt marks bytes that differ from the written ones: truncated, altered, or with trailing bytes. The caller
// should fetch or rebuild the artefact.
var ErrCorrupt = errors.New("corrupt canonical bytes")

// ErrVersion marks bytes of a format version that this program does not support. The caller should
// rebuild the artefact or use the program that wrote it.
var ErrVersion = errors.New("unknown format version")

const headerBytes = 5

// Writer appends canonical fields. The zero value is not usable; call NewWriter,
// append the fields, then Seal; or NewDigester, append the fields, then Digest.
type Writer struct {
	buf []byte
	// hash consumes the earlier content of buf, if only the digest is needed.
	hash hash.Hash
}

// blockBytes is the size of a digester's buffer.
const blockBytes = 1 << 15

// NewWriter starts a message with a four-byte magic and a format version.
func NewWriter(magic string, version byte) *Writer {
	if len(magic) != 4 {
		panic("canonical: magic is not four bytes")
	}
	return &Writer{buf: append([]byte(magic), version)}
}

// NewDigester starts a message of which only the digest is needed, without storing it.
func NewDigester(magic string, version byte) *Writer {
	w := NewWriter(magic, version)
	w.hash = sha256.New()
	return w
}

// settle flushes a digester's buffer if it is full.
func (w *Writer) settle() {
	if w.hash != nil && len(w.buf) >= blockBytes {
		w.hash.Write(w.buf)
		w.buf = w.buf[:0]
	}
}

// Uint8 appends one byte.
func (w *Writer) Uint8(v uint8) { w.buf = append(w.buf, v) }

// Flag appends a byte that is 1 if v is true and else 0.
func (w *Writer) Flag(v bool) {
	var b uint8
	if v {
		b = 1
	}
	w.Uint8(b)
}

// Uint32 appends a 32-bit number.
func (w *Writer) Uint32(v uint32) { w.buf = binary.LittleEndian.AppendUint32(w.buf, v) }

// Uint64 appends a 64-bit number.
func (w *Writer) Uint64(v uint64) { w.buf = binary.LittleEndian.AppendUint64(w.buf, v) }

// Count appends the length of a sequence.
func (w *Writer) Count(n int) { w.Uint32(uint32(n)) }

// Bytes appends raw bytes without their length.
func (w *Writer) Bytes(b []byte) {
	w.buf = append(w.buf, b...)
	w.settle()
}

// String appends a length and the string's bytes.
func (w *Writer) String(s string) {
	w.Count(len(s))
	w.buf = append(w.buf, s...)
}

// Float32s appends the values without their count.
func (w *Writer) Float32s(values []float32) {
	if w.hash == nil {
		w.buf = floatbytes.Append(w.buf, values)
		return
	}
	for block := range slices.Chunk(values, blockBytes/floatbytes.Size) {
		w.buf = floatbytes.Append(w.buf, block)
		w.settle()
	}
}

// Grow allocates space for so many more bytes of a message, which a digester does not need.
func (w *Writer) Grow(bytes int) {
	if w.hash == nil {
		w.buf = slices.Grow(w.buf, bytes+sha256.Size)
	}
}

// Seal appends the checksum and returns the message. A digester has none.
func (w *Writer) Seal() []byte {
	message, _ := w.SealDigest()
	return message
}

// SealDigest returns the results of Seal and of DigestOf on it. It reads the fields only once.
func (w *Writer) SealDigest() (message []byte, digest lethe.Digest) {
	if w.hash != nil {
		panic("canonical: a digester keeps no message")
	}
	all := sha256.New()
	all.Write(w.buf)
	sum := all.Sum(nil)
	all.Write(sum)
	return append(w.buf, sum...), lethe.Digest(all.Sum(nil))
}

// Digest returns DigestOf the message that Seal would have returned. It reads the fields only once,
// where sealing and hashing a message would read them twice.
func (w *Writer) Digest() lethe.Digest {
	if w.hash == nil {
		panic("canonical: the digest of a message that is kept is DigestOf what Seal returns")
	}
	w.hash.Write(w.buf)
	w.hash.Write(w.hash.Sum(nil))
	return lethe.Digest(w.hash.Sum(nil))
}

// Reader decodes the fields of a message. The first failure is stored and returned by Close; fields
// read after it are zero.
type Reader struct{ bytecursor.Cursor }

// NewReader checks magic, version and checksum of a message.
func NewReader(message []byte, magic string, version byte) (*Reader, error) {
	if len(message) < headerBytes+sha256.Size {
		return nil, fmt.Errorf("%w: %d bytes, shorter than an empty message", ErrCorrupt, len(message))
	}
	body, sum := message[:len(message)-sha256.Size], message[len(message)-sha256.Size:]
	if got := string(body[:4]); got != magic {
		return nil, fmt.Errorf("%w: message starts with %q, want %q", ErrCorrupt, got, magic)
	}
	if sha256.Sum256(body) != [sha256.Size]byte(sum) {
		return nil, fmt.Errorf("%w: checksum of %q message does not match", ErrCorrupt, magic)
	}
	if body[4] != version {
		return nil, fmt.Errorf("%w: %q has version %d, this program reads %d", ErrVersion, magic, body[4], version)
	}
	return &Reader{bytecursor.New(body[headerBytes:], binary.LittleEndian)}, nil
}

// Close returns the first failure, or an error if bytes remain.
func (r *Reader) Close() error {
	if err := r.Cursor.Close(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
