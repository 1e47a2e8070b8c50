package canonical

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"

	"lethe"
)

// ErrCorrupt marks bytes that cannot be what was written: cut short, altered,
// or followed by more. The caller should fetch or rebuild the artefact.
var ErrCorrupt = errors.New("corrupt canonical bytes")

// ErrVersion marks bytes of a format version this program does not read. The
// caller should rebuild the artefact or use the program that wrote it.
var ErrVersion = errors.New("unknown format version")

const headerBytes = 5

// Writer appends canonical fields. The zero value is not usable; call NewWriter,
// append the fields, then Seal; or NewDigester, append the fields, then Digest.
type Writer struct {
	buf []byte
	// hash takes in what buf held before, if nobody asks for the message.
	hash hash.Hash
}

// blockBytes is how much of a message a digester holds at once.
const blockBytes = 1 << 15

// NewWriter starts a message with a four-byte magic and a format version.
func NewWriter(magic string, version byte) *Writer {
	if len(magic) != 4 {
		panic("canonical: magic is not four bytes")
	}
	return &Writer{buf: append([]byte(magic), version)}
}

// NewDigester starts a message of which only the digest is wanted, and which is
// not kept.
func NewDigester(magic string, version byte) *Writer {
	w := NewWriter(magic, version)
	w.hash = sha256.New()
	return w
}

// settle makes room in a digester.
func (w *Writer) settle() {
	if w.hash != nil && len(w.buf) >= blockBytes {
		w.hash.Write(w.buf)
		w.buf = w.buf[:0]
	}
}

// Uint8 appends one byte.
func (w *Writer) Uint8(v uint8) { w.buf = append(w.buf, v) }

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
		w.buf = slices.Grow(w.buf, 4*len(values))
	}
	for block := range slices.Chunk(values, blockBytes/4) {
		from := len(w.buf)
		w.buf = slices.Grow(w.buf, 4*len(block))[:from+4*len(block)]
		out := w.buf[from:]
		for i, v := range block {
			binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(v))
		}
		w.settle()
	}
}

// Seal appends the checksum and returns the message. A digester has none.
func (w *Writer) Seal() []byte {
	if w.hash != nil {
		panic("canonical: a digester keeps no message")
	}
	sum := sha256.Sum256(w.buf)
	return append(w.buf, sum[:]...)
}

// Digest returns DigestOf the message that Seal would have returned. The fields
// are read once, where sealing and hashing a message read them twice.
func (w *Writer) Digest() lethe.Digest {
	if w.hash == nil {
		panic("canonical: the digest of a message that is kept is DigestOf what Seal returns")
	}
	w.hash.Write(w.buf)
	w.hash.Write(w.hash.Sum(nil))
	return lethe.Digest(w.hash.Sum(nil))
}

// Reader takes the fields of a message apart. The first failure sticks and is
// returned by Close; fields read after it are zero.
type Reader struct {
	rest []byte
	err  error
}

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
	return &Reader{rest: body[headerBytes:]}, nil
}

// take returns the next n bytes, or nil after a failure.
func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.rest) {
		r.err = fmt.Errorf("%w: field of %d bytes, %d left", ErrCorrupt, n, len(r.rest))
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads a 32-bit number.
func (r *Reader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a 64-bit number.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Count reads the length of a sequence whose items take at least itemBytes
// each, so that a wrong count cannot ask for more memory than the message has.
func (r *Reader) Count(itemBytes int) int {
	n := int(r.Uint32())
	if r.err == nil && n*itemBytes > len(r.rest) {
		r.err = fmt.Errorf("%w: %d items of %d bytes, %d bytes left", ErrCorrupt, n, itemBytes, len(r.rest))
	}
	if r.err != nil {
		return 0
	}
	return n
}

// Bytes copies the next len(dst) bytes.
func (r *Reader) Bytes(dst []byte) { copy(dst, r.take(len(dst))) }

// String reads what Writer.String wrote.
func (r *Reader) String() string { return string(r.take(r.Count(1))) }

// Float32s reads n values, or nil after a failure.
func (r *Reader) Float32s(n int) []float32 {
	if n < 0 || n > len(r.rest)/4 {
		r.take(len(r.rest) + 1)
		return nil
	}
	raw := r.take(4 * n)
	if raw == nil {
		return nil
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// Close returns the first failure, or an error if bytes are left over.
func (r *Reader) Close() error {
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%w: %d bytes left over", ErrCorrupt, len(r.rest))
	}
	return r.err
}
